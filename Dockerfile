# A container that holds nothing but the binary. Build: docker build -t meshdoctor .
FROM rust:1.95-slim@sha256:e14e87345b4d5964ddcc3491d27ee046a0f23820f340c3c1e24da6880141f7c0 AS build
WORKDIR /src
COPY . .
# The name that this image will have, for `collect --node-pods` to start it on nodes: --build-arg MESHDOCTOR_NODE_IMAGE=...
ARG MESHDOCTOR_NODE_IMAGE
RUN cargo build --profile dist --locked

FROM gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f
COPY --from=build /src/target/dist/meshdoctor /usr/local/bin/meshdoctor
COPY LICENSE /LICENSE
ENTRYPOINT ["/usr/local/bin/meshdoctor"]
