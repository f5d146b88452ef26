# Workers, servers and commands in production: docker build -t daybook . && docker run --env-file .env daybook worker
FROM node:22-bookworm-slim AS build
WORKDIR /daybook
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:22-bookworm-slim
# Python builds the marts; tini passes signals on, and ends what a process leaves behind.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv tini \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /daybook
COPY --from=build /daybook/package.json ./
COPY --from=build /daybook/node_modules node_modules
COPY --from=build /daybook/bin bin
COPY --from=build /daybook/dist dist
ENV NODE_ENV=production DAYBOOK_HOME=/var/lib/daybook XDG_CACHE_HOME=/var/lib/daybook/cache DAYBOOK_HTTP_HOST=0.0.0.0
# A volume on the seeds, which hosts share, takes its owner from the folder that is there.
RUN install --directory --owner=node --group=node --mode=700 /var/lib/daybook /var/lib/daybook/seeds
USER node
VOLUME /var/lib/daybook
EXPOSE 8390
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8390/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "/daybook/bin/daybook.js"]
CMD ["worker"]
