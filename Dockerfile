# The gateway and its command line. The root file system may be read-only: only /data (SQLite) and /tmp are written to.
ARG NODE_IMAGE=node:26.10.0-slim
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY lib lib
COPY providers providers
COPY payments payments
COPY catalog catalog
COPY deploy/replica-set.ts deploy/
RUN chmod 755 lib/cli/main.ts && ln -s /app/lib/cli/main.ts /usr/local/bin/tollgate && install -d -o node -g node /data /backup
# As `npm start`, with what is compiled where it may be written.
ENV NODE_ENV=production NODE_COMPILE_CACHE=/tmp/compile MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 \
  HOST=0.0.0.0 PORT=8080 DATA_DIR=/data DATABASE_URL=sqlite:/data/tollgate.db
USER node
EXPOSE 8080
# A start may migrate the store for minutes, and on a busy machine a probe alone takes seconds: it starts Node.
HEALTHCHECK --interval=5s --timeout=10s --start-period=600s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As `npm start`, without npm between: signals reach the service. The heap may take 60 % of the container's memory limit, the
# rest is for buffers and threads; V8 alone would take a quarter or a half.
CMD ["node", "--max-old-space-size-percentage=60", "--max-semi-space-size=16", "--heap-growing-percent=150", "--concurrent-marking-max-worker-num=1", \
  "--concurrent-turbofan-max-threads=1", "--concurrent-maglev-max-threads=1", "--memory-pool-timeout=1", "lib/main.ts"]
