// Groups and transactions by kafkajs against one broker: it prints what came of them.
const { Kafka, logLevel } = require('kafkajs')

const PARTITIONS = 4
const RECORDS = 60
const PATIENCE_MS = 60000

const tell = (...words) => console.log(...words.map((word) => JSON.stringify(word)))

const until = async (what, condition) => {
  const deadline = Date.now() + PATIENCE_MS
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const fill = async (kafka, topic) => {
  const producer = kafka.producer()
  await producer.connect()
  const messages = [...Array(RECORDS).keys()].map((n) => ({ partition: n % PARTITIONS, value: `${n}` }))
  await producer.send({ topic, messages })
  await producer.disconnect()
}

// A member notes what it has read and what it was given.
const member = async (kafka, groupId, topic) => {
  const consumer = kafka.consumer({ groupId, sessionTimeout: 6000, heartbeatInterval: 300, rebalanceTimeout: 10000 })
  const itself = { consumer, assigned: [], values: [] }
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    itself.assigned = payload.memberAssignment[topic] || []
  })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ eachMessage: async ({ message }) => itself.values.push(message.value.toString()) })
  return itself
}

const settled = async (what, ...members) => {
  await until(what, () => {
    const all = members.flatMap((each) => each.assigned)
    return all.length === PARTITIONS && new Set(all).size === PARTITIONS && members.every((each) => each.assigned.length)
  })
  tell(what, members.map((each) => each.assigned.length).sort())
}

const rebalance = async (kafka, admin, topic) => {
  const group = `${topic}.members`
  const first = await member(kafka, group, topic)
  await settled('alone', first)
  await until('all is read', () => first.values.length >= RECORDS)
  tell(first.values.slice().sort())
  const second = await member(kafka, group, topic)
  await settled('two', first, second)
  const { groups } = await admin.describeGroups([group])
  tell(groups[0].state, groups[0].protocol, groups[0].protocolType, groups[0].members.length, groups[0].errorCode)
  await second.consumer.disconnect()
  await settled('alone again', first)
  await first.consumer.disconnect()
  const [offsets] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
  tell(offsets.partitions.sort((a, b) => a.partition - b.partition))
  await admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 1, offset: '4' }] })
  await admin.resetOffsets({ groupId: group, topic, earliest: false })
  tell((await admin.fetchOffsets({ groupId: group, topics: [topic], resolveOffsets: true }))[0].partitions)
  tell((await admin.listGroups()).groups.filter((each) => each.groupId === group))
  tell(await admin.deleteGroups([group]))
  tell((await admin.listGroups()).groups.filter((each) => each.groupId === group))
}

const transact = async (kafka, topic, source) => {
  const settings = { transactionalId: `${topic}.x`, maxInFlightRequests: 1, idempotent: true }
  const producer = kafka.producer(settings)
  await producer.connect()
  for (let number = 0; number < 9; number++) {
    const transaction = await producer.transaction()
    await transaction.send({ topic, messages: [0, 1].map((partition) => ({ partition, value: `${number} in ${partition}` })) })
    const offsets = { consumerGroupId: `${topic}.group`, topics: [{ topic: source, partitions: [{ partition: 0, offset: `${number}` }] }] }
    await transaction.sendOffsets(offsets)
    await (number % 3 === 2 ? transaction.abort() : transaction.commit())
  }
  const open = await producer.transaction()
  await open.send({ topic, messages: [{ partition: 0, value: 'by the zombie' }] })
  const newer = kafka.producer(settings)
  await newer.connect()
  const other = await newer.transaction()
  await other.send({ topic, messages: [{ partition: 0, value: 'the last' }, { partition: 1, value: 'the last' }] })
  tell('the zombie', await open.commit().then(() => 'commits', (error) => error.type || error.name))
  await other.commit()
  await newer.disconnect()
  await producer.disconnect()
}

const readCommitted = async (kafka, topic) => {
  const consumer = kafka.consumer({ groupId: `${topic}.reader`, readUncommitted: false })
  const values = []
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ eachMessage: async ({ partition, message }) => values.push(`${partition}/${message.offset} ${message.value}`) })
  await until('the end', () => values.filter((each) => each.endsWith('the last')).length === 2)
  await consumer.disconnect()
  tell(values.sort())
}

const main = async (address) => {
  const kafka = new Kafka({ brokers: [address], logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const [source, target] = ['kafkajs-source', 'kafkajs-target']
  const topics = [source, target].map((topic) => ({ topic, numPartitions: PARTITIONS }))
  await admin.createTopics({ topics, waitForLeaders: true })
  await fill(kafka, source)
  await rebalance(kafka, admin, source)
  await transact(kafka, target, source)
  tell(await admin.fetchOffsets({ groupId: `${target}.group`, topics: [source], resolveOffsets: false }))
  await readCommitted(kafka, target)
  await admin.disconnect()
}

main(process.argv[2]).then(() => process.exit(0), (error) => {
  console.error(error)
  process.exit(1)
})
