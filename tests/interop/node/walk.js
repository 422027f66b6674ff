// A walk through kafkajs against one broker: it prints what it was answered.
// Its consumers know groups alone, so what was sent is read by others.
const { Kafka, CompressionTypes, CompressionCodecs, ConfigResourceTypes, logLevel } = require('kafkajs')

CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')

const START_MS = 1700000000000
const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy }

const tell = (...words) => console.log(...words.map((word) => JSON.stringify(word)))

const send = async (kafka, topic, compression, idempotent) => {
  const producer = kafka.producer({ idempotent, maxInFlightRequests: 1 })
  await producer.connect()
  for (let number = 0; number < 10; number++) {
    const answers = await producer.send({
      topic,
      compression,
      acks: -1,
      messages: [0, 1, 2].map((part) => ({
        partition: 0,
        key: `key ${part}`,
        value: `value ${number} ${part}`,
        timestamp: String(START_MS + 10 * number + part),
        headers: { number: String(number) },
      })),
    })
    tell(answers)
  }
  await producer.disconnect()
}

const administer = async (admin, topic) => {
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic }
  await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries: [{ name: 'flush.ms', value: '70' }] }] })
  const { resources } = await admin.describeConfigs({ includeSynonyms: true, resources: [resource] })
  for (const entry of resources[0].configEntries.sort((a, b) => (a.configName < b.configName ? -1 : 1))) {
    tell(entry.configName, entry.configValue, entry.configSource, entry.isSensitive, entry.configSynonyms)
  }
  tell(await admin.fetchTopicOffsets(topic))
  tell(await admin.fetchTopicOffsetsByTimestamp(topic, START_MS + 25))
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '7' }] })
  tell(await admin.fetchTopicOffsets(topic))
  await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] })
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  tell(topics[0].partitions.sort((a, b) => a.partitionId - b.partitionId))
}

const main = async (address) => {
  const kafka = new Kafka({ brokers: [address], logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  for (const [name, compression] of Object.entries(CODECS)) {
    const topic = `kafkajs-${name}`
    tell(await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true }))
    await send(kafka, topic, compression, false)
    await send(kafka, topic, compression, true)
    await administer(admin, topic)
  }
  await admin.createTopics({ topics: [{ topic: 'kafkajs-gone' }] })
  await admin.deleteTopics({ topics: ['kafkajs-gone'] })
  tell((await admin.listTopics()).filter((name) => name.startsWith('kafkajs')).sort())
  await admin.disconnect()
}

main(process.argv[2]).catch((error) => {
  console.error(error)
  process.exit(1)
})
