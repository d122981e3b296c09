# `fmdata` of a release as an image:
#
#     docker run --rm -e FM_HOST -e FM_DATABASE -e FM_USER -e FM_PASSWORD fmdata find Contacts City=London
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates tzdata zlib1g \
    && rm -rf /var/lib/apt/lists/*
ADD fmdata-*-linux-x86_64.tar.gz /tmp/
RUN cp -r /tmp/fmdata-*/bin /tmp/fmdata-*/share /usr/local/ && rm -rf /tmp/fmdata-*
USER nobody
ENTRYPOINT ["fmdata"]
