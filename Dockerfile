# The environment of the lock file, and everything in the repository.
#   docker build -t judgerank .
#   docker run -v "$PWD/smoke:/judgerank/outputs/smoke" judgerank          # make smoke: smoke/index.html
#   docker run -v "$PWD/data:/judgerank/data" judgerank make chatbot_arena  # data are downloaded there once
# What the Makefile needs: the devcontainer stops here
FROM python:3.11-slim-trixie@sha256:9534e5a8e315485d4061ed659af0fd78a284c015f9b73661b41d6bab25604534 AS tools
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make gcc libc6-dev git \
    && rm -rf /var/lib/apt/lists/*

FROM tools
WORKDIR /judgerank
COPY . .
RUN make environment
CMD ["make", "smoke"]
