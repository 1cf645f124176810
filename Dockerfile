# A container that holds nothing but the binary. Build: docker build -t meshdoctor .
FROM rust:1.95-slim AS build
WORKDIR /src
COPY . .
# The name that this image will have, for `collect --node-pods` to start it on nodes: --build-arg MESHDOCTOR_NODE_IMAGE=...
ARG MESHDOCTOR_NODE_IMAGE
RUN cargo build --profile dist --locked

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/target/dist/meshdoctor /usr/local/bin/meshdoctor
COPY LICENSE /LICENSE
ENTRYPOINT ["/usr/local/bin/meshdoctor"]
