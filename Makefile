# Every verb sets itself up: a virtual environment in .venv, dependencies by name.
# `make test` is what CI runs; the heavier runs stand beside it.

# One that was built for speed, if there is one: servers run a quarter faster on it.
PYTHON ?= $(shell python3 -I src/odradek/doctor/interpreter.py)
BIN := .venv/bin
READY := .venv/ready

.PHONY: check format demo test interop cluster scenarios simulate fuzz bench docs clean spark-4.0

CASES ?= 200000
SEEDS ?= 1000
SEED ?= 1

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Odradek needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,spark,console]'
	touch $@

check: $(READY)  ## format, lint, types, imports: under a minute
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

demo: $(READY)  ## the main job from end to end, a minute or two; ARGS=--keep leaves it running
	$(BIN)/odradek demo $(ARGS)

test: check  ## all checks, all tests that need no Java
	$(BIN)/pytest --ignore tests/interop

interop: $(READY)  ## beside Apache's own software: needs Java and Maven, says so where they lack
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[pipelines]'
	$(BIN)/pytest -rs tests/interop

# Spark 4.0 leaves its own sockets to the garbage collector.
SPARK_4_0 := -W "ignore:unclosed <socket:ResourceWarning" \
	-W "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"

spark-4.0: $(READY)  ## the Spark side on the oldest Spark that it is for; tables need Java and Maven
	test -d build/spark-4.0 || $(BIN)/python -m venv build/spark-4.0
	build/spark-4.0/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,spark]' 'pyspark==4.0.*'
	build/spark-4.0/bin/pytest -rs $(SPARK_4_0) tests/spark tests/pipelines tests/interop/test_spark_tables.py

cluster: $(READY)  ## real brokers that die, hang, leave or are cut off, in all roles; some need root
	FULL=1 $(BIN)/pytest tests/kafka/clients/test_cluster_matrix.py tests/kafka/clients/test_cluster_copy.py \
		tests/kafka/clients/test_cluster_cuts.py

scenarios: $(READY)  ## the text stories; REWRITE=1 writes their narration anew
	$(BIN)/pytest tests/simulation/test_scenarios.py tests/zookeeper/server/test_ensemble_scenarios.py \
		tests/kafka/server/test_cluster_scenarios.py

simulate: $(READY)  ## many seeds of the simulated worlds: SEEDS of each
	SEEDS=$(SEEDS) $(BIN)/pytest tests/simulation/test_determinism.py tests/zookeeper/server/test_crashes.py \
		tests/zookeeper/server/test_ensemble_simulation.py tests/zookeeper/zab/test_simulation.py \
		tests/kafka/server/test_crashes.py tests/kafka/server/test_cluster_crashes.py \
		tests/kafka/server/test_ensemble_crashes.py tests/kafka/server/test_group_crashes.py \
		tests/kafka/server/test_transaction_crashes.py tests/kafka/server/test_write_boundaries.py \
		tests/kafka/broker/test_cleaning_crashes.py tests/kafka/broker/test_controller_chaos.py

fuzz: $(READY)  ## hostile bytes for every reader: CASES for each kind, from SEED
	$(BIN)/python -m tests.fuzz --cases $(CASES) --seed $(SEED)

bench: $(READY)  ## speed beside others; run it alone on the machine
	$(BIN)/python -m benchmarks.kafka_wire
	$(BIN)/python -m benchmarks.batches
	$(BIN)/python -m benchmarks.zookeeper_wire
	$(BIN)/python -m benchmarks.simulation
	$(BIN)/python -m benchmarks.zookeeper_storage
	$(BIN)/python -m benchmarks.kafka_storage

docs: $(READY)  ## the documentation as a site, in build/docs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check mkdocs-material
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --site-dir build/docs

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
