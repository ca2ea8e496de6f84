# Stackwright on the command line, as a user without rights; boards are mounted on /boards:
#   docker build -t stackwright . && docker run --rm -v "$PWD:/boards:ro" stackwright check card.kicad_pcb
# What is installed is what plugin/ci/lock-run.txt pins and hashes. For the same bytes every time, pin the base image by
# its digest: docker build --build-arg PYTHON=python:3.12-slim@sha256:...
ARG PYTHON=python:3.12-slim

FROM ${PYTHON} AS build
COPY pyproject.toml README.md LICENSE /source/
COPY plugin/ci/lock-run.txt /source/plugin/ci/
RUN python -I -m venv /opt/stackwright \
 && /opt/stackwright/bin/python -I -m pip install --no-cache-dir --require-hashes --only-binary :all: -r /source/plugin/ci/lock-run.txt
COPY stackup_lib /source/stackup_lib
COPY drc_rules /source/drc_rules
COPY plugin/stackwright /source/plugin/stackwright
RUN /opt/stackwright/bin/python -I -m pip install --no-cache-dir --no-deps --no-build-isolation /source \
 && /opt/stackwright/bin/python -I -m pip uninstall --yes --quiet pip

FROM ${PYTHON}
COPY --from=build /opt/stackwright /opt/stackwright
ENV PATH=/opt/stackwright/bin:$PATH PYTHONUTF8=1 PYTHONSAFEPATH=1
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin stackwright
USER 10001:10001
WORKDIR /boards
ENTRYPOINT ["stackwright"]
CMD ["--help"]
