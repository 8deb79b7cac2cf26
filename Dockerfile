# The local service in a container, to try it: docs/local.md#in-a-container. It is made from the package
# alone.
#   docker build -t pennytrace .
#   docker run -p 8787:8787 -e LOCAL_KEY=svc_… -v pennytrace:/data pennytrace
FROM node:24-slim AS package
WORKDIR /checkout
COPY . .
RUN npm ci && npm pack --pack-destination /

FROM node:24-slim
WORKDIR /service
COPY --from=package /pennytrace-*.tgz /tmp/
RUN npm init --yes && npm install --no-audit --no-fund /tmp/pennytrace-*.tgz \
  && rm /tmp/pennytrace-*.tgz \
  && mkdir /data && chown node:node /data /service
USER node
ENV HOST=0.0.0.0 DATA_DIR=/data DEMO=0
VOLUME /data
EXPOSE 8787
# Without npm, the service gets the signal that ends the container.
CMD ["node", "node_modules/pennytrace/dist/cli/cli.js", "start"]
