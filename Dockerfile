# The version that package.json pins for development; a test holds the two together.
ARG NODE_VERSION=26.10.0

FROM node:${NODE_VERSION}-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/client/package.json packages/client/
COPY packages/compat/package.json packages/compat/
COPY packages/deploy/package.json packages/deploy/
COPY packages/embedders/minilm/package.json packages/embedders/minilm/
COPY packages/evaluation/package.json packages/evaluation/
COPY packages/http/package.json packages/http/
COPY packages/index-qdrant/package.json packages/index-qdrant/
COPY packages/lib/package.json packages/lib/
COPY packages/mcp-server/package.json packages/mcp-server/
COPY packages/models/package.json packages/models/
COPY packages/office-tools/package.json packages/office-tools/
COPY packages/oidc/package.json packages/oidc/
COPY packages/readers/package.json packages/readers/
COPY packages/sandboxes/package.json packages/sandboxes/
COPY packages/schemas/package.json packages/schemas/
COPY packages/search/package.json packages/search/
COPY packages/stores/package.json packages/stores/
COPY packages/tables/package.json packages/tables/
COPY packages/wire/package.json packages/wire/
# Nothing that the server needs has an install script, so none may run.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# Such as @embedpdf/fonts-sc for Chinese and Japanese, @embedpdf/fonts-kr for Korean, @tesseract.js-data/deu to read German scans.
ARG EXTRA_PACKAGES=""
RUN if [ -n "$EXTRA_PACKAGES" ]; then npm install --no-save --omit=dev --ignore-scripts --no-audit --no-fund $EXTRA_PACKAGES; fi
# More than half of it is for other platforms, debuggers and compilers.
COPY scripts/prune-packages.mjs scripts/
RUN node scripts/prune-packages.mjs

# What the server reads of them: the web UI comes as a bundle.
FROM dependencies AS read
RUN node scripts/prune-packages.mjs --bundled

# All that .dockerignore lets in: the server, and the agent's own files where there are any. Of the web UI the bundle stays.
FROM dependencies AS assembled
COPY . ./
RUN node src/main.ts prebuild-web-ui && \
    node -e "for (const name of fs.readdirSync('ui')) if (name !== 'dist') fs.rmSync('ui/' + name, { recursive: true })" && \
    rm -rf node_modules scripts

FROM node:${NODE_VERSION}-slim
# HOST is what makes the server reachable from outside its container; the key is asked for at the start.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    # glibc then gives freed memory back: an explicit threshold stays fixed, and all threads share one arena.
    MALLOC_TRIM_THRESHOLD_=131072 \
    MALLOC_ARENA_MAX=1
WORKDIR /app
# A new volume takes its owner from here.
RUN mkdir /data && chown 1000:1000 /data
COPY --from=read /app/node_modules ./node_modules
COPY --from=assembled /app ./
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readiness`, { signal: AbortSignal.timeout(4_000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The server handles SIGTERM itself and ends every child that it starts. Only while it still loads does process 1 not
# hear a signal, so a stop then takes the whole grace period, but for `docker run --init`.
STOPSIGNAL SIGTERM
# As root it gives /data to the user 1000, and goes on as that user.
ENTRYPOINT ["sh", "src/docker-entrypoint.sh"]
# As `npm start`, but for the check of Node.js, which this image has itself.
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=75", "src/main.ts"]
