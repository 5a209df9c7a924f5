# The server, the Dagster UI and its daemon, from one image: see docs/serving.md and compose.yaml; with Dask, docs/scaling.md.
# For builds that can be repeated to the byte, pin the digest of the base image too (python:...@sha256:...).
FROM python:3.11-slim-bookworm AS build
WORKDIR /build
RUN python -m venv /opt/rag_assets
ENV PATH=/opt/rag_assets/bin:$PATH \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
COPY requirements-image.lock ./
RUN python -m pip install --no-deps --require-hashes --requirement requirements-image.lock
# hatch_build.py fetches files of models, pinned by hash, into the wheel, as `make run` does.
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY rag_assets rag_assets
RUN python -m pip install --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --user-group --create-home rag \
    && install --directory --owner rag --group rag /data /data/papers /data/questions /app/dagster
COPY --from=build /opt/rag_assets /opt/rag_assets
# For deploy/compose.yaml, which sets DAGSTER_HOME to that folder.
COPY deploy/dagster.yaml deploy/workspace.yaml /app/dagster/
ENV PATH=/opt/rag_assets/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    RAG_ASSETS_DATA_DIR=/data
USER rag
WORKDIR /app
VOLUME /data
EXPOSE 8000 3000
ENTRYPOINT ["rag-assets"]
CMD ["serve", "--host", "0.0.0.0"]
