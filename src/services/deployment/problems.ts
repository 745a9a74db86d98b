import { posix } from 'node:path'
import { createOutboundPolicy, literalAddress } from '../../lib/outbound/policy.ts'
import { SECRET_HEADER } from '../mcp/settings.ts'
import { readSandboxSettings } from '../sandbox/code-sandbox.ts'
import { ANSWER_SECONDS, MIN_CLOSING_SECONDS } from './plan.ts'
import { type AgentSource, namedFiles } from './project.ts'
import type { DeploymentSettings, Facts, Problem, Target } from './target.ts'

/** The server's heartbeat interval in a stream, in seconds. */
const HEARTBEAT_SECONDS = 15
/** The format of keys of common services. */
const KEY_LIKE =
  /\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abpr]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|whsec_[\w+/]{32,}|e2b_\w{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+)|-----BEGIN [A-Z ]*PRIVATE KEY/
const DEFAULT_OF_SECRET = /\$\{\w+:-[^}]+\}/

interface Question {
  agent: AgentSource
  settings: DeploymentSettings
  target: Target
  facts: Facts
}
type Check = (question: Question) => Problem[]

/** Everything that makes a deployment impossible, all at once. */
export function refusalsOf(agent: AgentSource, settings: DeploymentSettings, target: Target) {
  const checks = [secrets, storage, instances, addresses, requests, sandbox, files]
  return checks.flatMap((check) => check({ agent, settings, target, facts: target.facts }))
}

/** What does not prevent a deployment but should be known. */
export function warningsOf(agent: AgentSource, settings: DeploymentSettings, target: Target) {
  const question = { agent, settings, target, facts: target.facts }
  return [...doubts(question), ...lowered(question)]
}

const secrets: Check = ({ agent: { configuration } }) =>
  stringsOf(configuration, '').flatMap(([field, text]) => {
    const isUrl = /\.url$/.test(field)
    const parameters = isUrl ? [...(URL.parse(text)?.searchParams ?? [])] : []
    const isWritten =
      KEY_LIKE.test(text) ||
      parameters.some(([name, value]) => SECRET_HEADER.test(name) && !value.startsWith('$')) ||
      (SECRET_HEADER.test(field.replace(/^.*\./, '')) && DEFAULT_OF_SECRET.test(text))
    const remedy = 'write $' + '{VARIABLE} in its place, and set the variable where the server runs'
    return isWritten ? [{ field, message: 'holds a secret in the clear', remedy }] : []
  })

const storage: Check = ({ settings: { variables }, target, facts }) => {
  if (facts.storage === 'disk') return []
  return ['DATABASE_URL', 'QDRANT_URL']
    .filter((name) => variables[name] === undefined)
    .map((field) => ({
      field,
      message: `is not set, and no server has a disk to itself on ${target.title}`,
      remedy: 'set DATABASE_URL to a PostgreSQL and QDRANT_URL to a Qdrant, see docs/scaling.md',
    }))
}

const instances: Check = ({ settings: { variables, instances: count }, target, facts }) => {
  const field = '--instances'
  if (count < 1) {
    const message = 'of 0 would stop ingestion, which goes on after a document was acknowledged'
    return [{ field, message, remedy: 'keep at least one instance' }]
  }
  if (count > 1 && variables.DATABASE_URL === undefined) {
    const message = 'is more than one, and documents in DATA_DIR belong to one server'
    const remedy = 'set DATABASE_URL and QDRANT_URL, see docs/scaling.md, or keep one instance'
    return [{ field, message, remedy }]
  }
  if (count <= facts.instances) return []
  const message = `is more than the ${facts.instances} that these files run on ${target.title}`
  return [{ field, message, remedy: `ask for ${facts.instances} at most, or another target` }]
}

const ADDRESSES =
  /^(?:CHAT|EMBEDDING|RERANK|QDRANT|DATABASE|WEBHOOK|E2B_API)(?:_BASE)?_URL(?:_NEXT)?$/

const addresses: Check = ({ agent: { configuration }, settings: { variables }, target, facts }) => {
  const named = [
    ...Object.entries(variables).filter(([name]) => ADDRESSES.test(name)),
    ...Object.entries(configuration.mcpServers)
      .filter(([, { enabled }]) => enabled)
      .map(([name, { url }]) => [`mcpServers.${name}.url`, url] as const),
    ...configuration.skills.sources.map((url) => ['skills.sources', url] as const),
  ]
  return named
    .filter(([, url]) => isPrivate(url, facts.hasServiceNames))
    .map(([field]) => ({
      field,
      message: `is an address of this machine or its network, which ${target.title} cannot reach`,
      remedy: `give it an address that can be reached from ${target.title}`,
    }))
}

const policy = createOutboundPolicy([])

function isPrivate(text: string, hasServiceNames = false): boolean {
  const hostname = URL.parse(text)?.hostname ?? ''
  const address = literalAddress(hostname)
  if (address !== undefined) return !policy.allowsAddress(address)
  if (/(?:^|\.)(?:localhost|local|lan|home\.arpa|docker\.internal)\.?$/.test(hostname)) return true
  return /^[\w-]+$/.test(hostname) && !hasServiceNames
}

const requests: Check = ({ agent, settings: { variables, grace, fileLimit }, target, facts }) => {
  const { title } = target
  const { requestSeconds: longest, isRequestDoubtful, silenceSeconds, bodyBytes } = facts
  const found: Problem[] = []
  const refuse = (field: string, message: string, remedy: string) =>
    void found.push({ field, message, remedy })
  const { seconds } = agent.configuration.limits
  if (longest !== undefined && !isRequestDoubtful && seconds + ANSWER_SECONDS > longest) {
    const message = `with ${ANSWER_SECONDS} for the answer is longer than the ${longest} s that a request lives on ${title}`
    refuse('limits.seconds', message, `at most ${longest - ANSWER_SECONDS}`)
  }
  if (silenceSeconds !== undefined && silenceSeconds <= HEARTBEAT_SECONDS) {
    const message = `${title} ends a connection that is silent for ${silenceSeconds} s, and a stream may be for ${HEARTBEAT_SECONDS}`
    refuse('target', message, 'take another target')
  }
  if (variables.SHUTDOWN_GRACE !== undefined && grace + MIN_CLOSING_SECONDS > facts.killSeconds) {
    const message = `is too long for ${title}, which kills a server ${facts.killSeconds} s after it was told to stop`
    refuse('SHUTDOWN_GRACE', message, `at most ${facts.killSeconds - MIN_CLOSING_SECONDS}`)
  }
  if (variables.FILE_LIMIT !== undefined && bodyBytes !== undefined && fileLimit > bodyBytes) {
    const message = `is more than ${title} lets through`
    refuse('FILE_LIMIT', message, `at most ${bodyBytes}`)
  }
  return found
}

const sandbox: Check = ({ agent: { configuration }, settings: { variables }, target, facts }) => {
  const { kind } = readSandboxSettings(configuration.sandbox)
  if (kind === 'none' || !configuration.tools.run_python) return []
  const field = 'sandbox'
  const hasRemote = variables.E2B_API_KEY !== undefined
  const { title } = target
  if (hasRemote && (kind === 'e2b' || kind === 'auto')) return []
  if (kind === 'e2b') {
    const message = 'is not set, and code is to be run at E2B'
    return [{ field: 'E2B_API_KEY', message, remedy: 'set it' }]
  }
  if (facts.isServerless) {
    const message = `would run code on ${title}, which is serverless: that takes a remote sandbox`
    const remedy = 'set E2B_API_KEY, or switch the tool run_python off in agent.json'
    return [{ field, message, remedy }]
  }
  if (kind === 'auto' || facts.sandboxes.includes(kind)) return []
  const message = `of the kind ${kind} does not work on ${title}`
  return [{ field, message, remedy: `one of ${facts.sandboxes.join(', ')}, or none` }]
}

const files: Check = ({ agent, settings: { folder } }) => {
  const { configuration, path = 'agent.json', missing } = agent
  const { skills, plugins } = namedFiles(configuration, path)
  const named = [
    { field: 'AGENT_CONFIG', name: path },
    ...skills.map((name) => ({ field: 'skills.sources', name })),
    ...plugins.map((name) => ({ field: 'plugins', name })),
    { field: '--out', name: folder },
  ]
  const outside = named.filter(({ name }) => isOutside(name))
  const lost = named.filter(({ name }) => missing.includes(name))
  return [
    ...outside.map(({ field, name }) => ({
      field,
      message: `${name} lies outside the project, so no image can hold it`,
      remedy: 'move it into the project, and name it by its path there',
    })),
    ...lost.map(({ field, name }) => ({
      field,
      message: `${name} is not there`,
      remedy: 'mend its path',
    })),
  ]
}

function isOutside(path: string): boolean {
  const plain = posix.normalize(path)
  return (
    posix.isAbsolute(plain) || plain === '..' || plain.startsWith('../') || /^[a-z]:/i.test(plain)
  )
}

const doubts: Check = ({ agent, settings: { variables, instances: count }, target, facts }) => {
  const { title } = target
  const { requestSeconds: longest, isRequestDoubtful, silenceSeconds } = facts
  const seconds = agent.configuration.limits.seconds + ANSWER_SECONDS
  const found: Problem[] = []
  if (isRequestDoubtful && longest !== undefined && seconds > longest) {
    const message = `with ${ANSWER_SECONDS} for the answer is more than ${longest}: ${title} may end a request then, though it shows life`
    found.push({ field: 'limits.seconds', message, remedy: `${longest - ANSWER_SECONDS} is safe` })
  }
  if (silenceSeconds !== undefined && seconds > silenceSeconds) {
    const message = `allows answers of ${seconds} s, and one that is not streamed is cut on ${title} after ${silenceSeconds} s of silence`
    found.push({ field: 'limits.seconds', message, remedy: 'have answers streamed' })
  }
  if (readSandboxSettings(agent.configuration.sandbox).kind === 'docker') {
    const message = 'is given the Docker socket, and whoever has that has the machine'
    found.push({
      field: 'sandbox',
      message,
      remedy: 'a machine for this alone, or embedded or e2b',
    })
  }
  if (facts.proxies === undefined && variables.TRUST_PROXY === undefined) {
    const message = `is not set, and how many proxies are in front on ${title} is not known: all callers seem to come from one address`
    found.push({ field: 'TRUST_PROXY', message, remedy: 'set it, see docs/operations.md' })
  }
  if (variables.CHAT_MODEL === 'extractive') {
    const message = 'is extractive: answers are quotes, and no tools are called'
    found.push({ field: 'CHAT_MODEL', message, remedy: 'set a model, see docs/models.md' })
  }
  if (variables.DATABASE_URL === undefined) {
    const message =
      'is not set: all documents are on the disk of one machine, and an update stops it for a moment'
    found.push({ field: 'DATABASE_URL', message, remedy: 'back the disk up, as DEPLOY.md says' })
  } else if (count === 1 && facts.instances > 1) {
    const message = 'is 1: an update or a failure of the instance is felt'
    found.push({ field: '--instances', message, remedy: 'ask for 2' })
  }
  return found
}

const lowered: Check = ({ settings: { grace, fileLimit }, target: { title }, facts }) => {
  const found: Problem[] = []
  const longest = facts.killSeconds - MIN_CLOSING_SECONDS
  if (grace > longest) {
    const message = `is set to ${longest}: ${title} kills a server ${facts.killSeconds} s after it was told to stop`
    found.push({ field: 'SHUTDOWN_GRACE', message, remedy: 'nothing; longer streams are cut' })
  }
  if (fileLimit > (facts.bodyBytes ?? fileLimit)) {
    const message = `is set to ${facts.bodyBytes}: ${title} lets no larger body through`
    found.push({ field: 'FILE_LIMIT', message, remedy: 'send larger files in parts' })
  }
  return found
}

/** Every string inside a value, with its dotted path. */
function stringsOf(value: unknown, path: string): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) =>
    stringsOf(child, path === '' ? name : `${path}.${name}`),
  )
}
