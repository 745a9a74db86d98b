import { resolve } from 'node:path'
import { deploy } from '@agent-server/deploy'
import { loadConfiguration } from '../agent/configuration.ts'
import { settingsOf } from '../config.ts'
import type { Command } from './command.ts'

/** `npm run deploy -- <target>`, or `-- verify <url>`. */
export const runDeploy: Command = ({ config, ...context }) =>
  deploy({
    ...context,
    root: resolve(import.meta.dirname, '../..'),
    readAgent: loadConfiguration,
    settings: async () => settingsOf(context.environment, config()),
  })
