import { loadEnvFile } from '@agent-server/lib/env-file.ts'

// The command line of the client, with the key of the server beside it.
loadEnvFile('.env', process.env)
await import('../packages/client/src/command-line/main.ts')
