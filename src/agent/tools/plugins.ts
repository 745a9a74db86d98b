import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { untilAborted } from '@agent-server/lib/abort.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { messageOf } from '@agent-server/lib/system-error.ts'
import { z } from 'zod'
import { pluginName } from '../configuration.ts'
import { defineTool, type Tool } from './define-tool.ts'

const TOOL_NAME = /^[A-Za-z0-9_-]{1,32}$/
const MAX_TOOLS = 100
const LOADING_MS = 10_000

/** Passed to a plugin that exports a function, so that it need not import our modules. */
const PLUGIN_KIT = { defineTool, z }

const PluginTool = z.custom<Tool>(
  (tool) =>
    typeof tool === 'object' &&
    tool !== null &&
    'run' in tool &&
    typeof tool.run === 'function' &&
    'name' in tool &&
    TOOL_NAME.test(String(tool.name)) &&
    'description' in tool &&
    'inputSchema' in tool,
  'must be tools made with defineTool, with a name of 1 to 32 letters, digits, _ and -',
)
const Exported = z.array(PluginTool).min(1).max(MAX_TOOLS)

interface PluginRecord {
  name: string
  state: 'on' | 'unavailable'
  reason?: string
}

interface LoadedPlugin extends PluginRecord {
  path: string
  /** None if it is unavailable. */
  tools: readonly Tool[]
}

export interface Plugins {
  /** In the order of the configuration. */
  loaded: readonly LoadedPlugin[]
  tools(): readonly Tool[]
  records(): PluginRecord[]
}

interface Dependencies {
  /** Paths of ES modules, relative to the agent configuration. */
  paths: readonly string[]
  /** The plugins of another agent, whose code does not run again. */
  existing?: Plugins | undefined
  /** The path of the agent configuration. */
  configuration: string
  log: Pick<Log, 'info' | 'error'>
}

/** Loads the plugins. One that cannot be loaded is logged and does not affect the others. */
export async function loadPlugins({
  paths,
  existing,
  configuration,
  log,
}: Dependencies): Promise<Plugins> {
  const loaded: LoadedPlugin[] = []
  for (const path of paths) {
    const name = pluginName(path)
    const before = existing?.loaded.find((one) => one.path === path && one.state === 'on')
    try {
      if (loaded.some((other) => other.name === name)) throw new Error('Its name is taken')
      const tools = before?.tools ?? (await load(name, resolve(dirname(configuration), path)))
      loaded.push({ path, name, tools, state: 'on' })
      if (!before) log.info({ plugin: name, tools: tools.length }, 'plugin loaded')
    } catch (error) {
      const reason = reasonOf(error, path)
      log.error({ plugin: name, reason }, 'plugin not loaded')
      loaded.push({ path, name, tools: [], state: 'unavailable', reason })
    }
  }
  return {
    loaded,
    tools: () => loaded.flatMap(({ tools }) => tools),
    records: () => loaded.map(({ path: _path, tools: _tools, ...record }) => record),
  }
}

async function load(name: string, path: string): Promise<Tool[]> {
  const deadline = AbortSignal.timeout(LOADING_MS)
  const exported = await untilAborted(exportedBy(path), deadline).catch((error: unknown) => {
    throw deadline.aborted ? new Error('It took too long to load') : error
  })
  const parsed = Exported.safeParse(exported)
  if (!parsed.success) throw new Error(`Its default export ${z.prettifyError(parsed.error)}`)
  return parsed.data.map((tool) => toPluginTool(tool, name))
}

let loads = 0

/** Imports the file anew each time, since a restart happens within the process. What the file itself imports stays. */
async function exportedBy(path: string): Promise<unknown> {
  const url = pathToFileURL(path)
  url.searchParams.set('load', String(++loads))
  const module: { default?: unknown } = await import(url.href)
  const { default: exported } = module
  return typeof exported === 'function' ? exported(PLUGIN_KIT) : exported
}

/** Renames a plugin's tool so that it cannot clash with tools of other plugins or of the server. */
function toPluginTool(tool: Tool, plugin: string): Tool {
  return {
    ...tool,
    name: `${plugin}__${tool.name}`,
    title: tool.title ?? tool.name,
    source: `plugin:${plugin}`,
    async run(input, context, signal) {
      // Plugins know the session by this name.
      const pluginContext = { ...context, conversation: context.sessionId }
      return String(await tool.run(input, pluginContext, signal))
    },
  }
}

/** The words of a syntax error, and its stack, may quote the file. */
function reasonOf(error: unknown, path: string): string {
  if (error instanceof SyntaxError) {
    return `Its code has a mistake; to see which, run: node ${path}`
  }
  return messageOf(error).split('\n').slice(0, 3).join(' ')
}
