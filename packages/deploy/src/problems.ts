import { posix } from 'node:path'
import { SECRET_HEADER } from '@agent-server/lib/environment.ts'
import { createOutboundPolicy, literalAddress } from '@agent-server/lib/outbound/policy.ts'
import { ANSWER_SECONDS, MIN_CLOSING_SECONDS } from './plan.ts'
import { type AgentSource, namedFiles, sandboxOf } from './project.ts'
import type { DeploymentSettings, Problem } from './settings.ts'
import type { Facts, Target } from './target.ts'

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

const addressesOf = ({ indexes }: DeploymentSettings) => indexes.map(({ address }) => address)
const namesOf = ({ indexes }: DeploymentSettings) => indexes.map(({ name }) => name).join(' or ')
/** Stands for a limit that a platform does not have. */
const NONE = Number.POSITIVE_INFINITY

const when = (isSo: boolean, problem: Problem): Problem[] => (isSo ? [problem] : [])

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
    const remedy = 'replace it with $' + '{VARIABLE}, and set that variable on the platform'
    return isWritten ? [{ field, message: 'contains a secret in plain text', remedy }] : []
  })

const storage: Check = ({ settings, target, facts }) => {
  if (facts.storage === 'disk') return []
  const indexes = addressesOf(settings)
  return ['DATABASE_URL', ...indexes]
    .filter((name) => settings.variables[name] === undefined)
    .map((field) => ({
      field,
      message: `is not set, and servers on ${target.title} have no disk of their own`,
      remedy: `set DATABASE_URL to a PostgreSQL database and ${indexes.join(' or ')} to a ${namesOf(settings)} instance, see docs/guides/scaling.md`,
    }))
}

const instances: Check = ({ settings, target, facts }) => {
  const { variables, instances: count } = settings
  const field = '--instances'
  const most = facts.instances
  return [
    ...when(count < 1, {
      field,
      message: 'of 0 would stop ingestion, which continues after a document was acknowledged',
      remedy: 'keep at least one instance',
    }),
    ...when(count > 1 && variables.DATABASE_URL === undefined, {
      field,
      message: 'is more than 1, and documents in DATA_DIR belong to a single server',
      remedy: `set DATABASE_URL and ${addressesOf(settings).join(' or ')}, see docs/guides/scaling.md, or keep one instance`,
    }),
    ...when(count > most && variables.DATABASE_URL !== undefined, {
      field,
      message: `exceeds the ${most} that these files support on ${target.title}`,
      remedy: `use at most ${most}, or choose another target`,
    }),
  ]
}

const ADDRESSES = /^(?:CHAT|EMBEDDING|RERANK|DATABASE|WEBHOOK|E2B_API)(?:_BASE)?_URL(?:_NEXT)?$/

/** May be called wherever they are; the rest is called only where OUTBOUND_ALLOW says so. */
const MODELS = /^(?:CHAT|EMBEDDING|RERANK)_/

const addresses: Check = ({ agent: { configuration }, settings, target, facts }) => {
  const ofIndexes = addressesOf(settings)
  const named = [
    ...Object.entries(settings.variables).filter(
      ([name]) => ADDRESSES.test(name) || ofIndexes.includes(name),
    ),
    ...Object.entries(configuration.mcpServers)
      .filter(([, { enabled }]) => enabled)
      .map(([name, { url }]) => [`mcpServers.${name}.url`, url] as const),
    ...configuration.skills.sources.map((url) => ['skills.sources', url] as const),
  ]
  return named.flatMap(([field, url]) => {
    const machine = MODELS.test(field) ? facts.machine : undefined
    const other = machine ? `, such as ${machine} for the machine that it will run on` : ''
    return when(isPrivate(url, facts.hasServiceNames) && hostnameOf(url) !== machine, {
      field,
      message: `is an address on this machine or its network, which ${target.title} cannot reach`,
      remedy: `use an address that can be reached from ${target.title}${other}`,
    })
  })
}

const policy = createOutboundPolicy([])

const hostnameOf = (url: string) => URL.parse(url)?.hostname ?? ''

function isPrivate(text: string, hasServiceNames = false): boolean {
  const hostname = hostnameOf(text)
  const address = literalAddress(hostname)
  if (address !== undefined) return !policy.allowsAddress(address)
  if (/(?:^|\.)(?:localhost|local|lan|home\.arpa|docker\.internal)\.?$/.test(hostname)) return true
  return /^[\w-]+$/.test(hostname) && !hasServiceNames
}

const requests: Check = ({ agent, settings: { variables, grace, fileLimit }, target, facts }) => {
  const { title } = target
  const { killSeconds, requestSeconds = NONE, silenceSeconds = NONE, bodyBytes = NONE } = facts
  const seconds = agent.configuration.limits.seconds + ANSWER_SECONDS
  return [
    ...when(seconds > requestSeconds && !facts.isRequestDoubtful, {
      field: 'limits.seconds',
      message: `plus ${ANSWER_SECONDS} s for the answer exceeds the ${requestSeconds} s that a request can take on ${title}`,
      remedy: `set it to at most ${requestSeconds - ANSWER_SECONDS}`,
    }),
    ...when(silenceSeconds <= HEARTBEAT_SECONDS, {
      field: 'target',
      message: `${title} ends connections that are silent for ${silenceSeconds} s, and a stream can be silent for ${HEARTBEAT_SECONDS} s`,
      remedy: 'choose another target',
    }),
    ...when(variables.SHUTDOWN_GRACE !== undefined && grace + MIN_CLOSING_SECONDS > killSeconds, {
      field: 'SHUTDOWN_GRACE',
      message: `is too long for ${title}, which kills a server ${killSeconds} s after asking it to stop`,
      remedy: `set it to at most ${killSeconds - MIN_CLOSING_SECONDS}`,
    }),
    ...when(variables.FILE_LIMIT !== undefined && fileLimit > bodyBytes, {
      field: 'FILE_LIMIT',
      message: `exceeds the largest request that ${title} accepts`,
      remedy: `set it to at most ${bodyBytes}`,
    }),
  ]
}

const sandbox: Check = ({ agent: { configuration }, settings: { variables }, target, facts }) => {
  const kind = sandboxOf(configuration)
  const isRemote = variables.E2B_API_KEY !== undefined && (kind === 'e2b' || kind === 'auto')
  if (kind === 'none' || !configuration.tools.run_python || isRemote) return []
  if (kind === 'e2b') {
    const message = 'is not set, but the sandbox is e2b'
    return [{ field: 'E2B_API_KEY', message, remedy: 'set it' }]
  }
  if (facts.isServerless) {
    const message = `requires a remote sandbox, since ${target.title} is serverless`
    const remedy = 'set E2B_API_KEY, or disable the tool run_python in agent.json'
    return [{ field: 'sandbox', message, remedy }]
  }
  return when(kind !== 'auto' && !facts.sandboxes.some((each) => each === kind), {
    field: 'sandbox',
    message: `of kind ${kind} does not work on ${target.title}`,
    remedy: `use ${facts.sandboxes.join(', ')} or none`,
  })
}

const files: Check = ({ agent, settings: { folder } }) => {
  const { configuration, path = 'agent.json', missing } = agent
  const { skills, plugins } = namedFiles(configuration, path)
  const named = [
    { field: 'AGENT_CONFIG', name: path },
    ...skills.map((name) => ({ field: 'skills.sources', name })),
    ...plugins.map((name) => ({ field: 'plugins', name })),
  ]
  const outside = named.filter(({ name }) => isOutside(name))
  const lost = named.filter(({ name }) => missing.includes(name))
  return [
    ...outside.map(({ field, name }) => ({
      field,
      message: `${name} is outside the project: the image is built from the project's folder, and a build reads no files outside of it`,
      remedy: 'move it into the project and update its path',
    })),
    ...when(isOutside(folder), {
      field: '--out',
      message: `${folder} is outside the project: the image is built from the project's folder, with the Dockerfile and its ignore file that are written there`,
      remedy: 'choose a folder within the project; the files may be moved only together with it',
    }),
    ...lost.map(({ field, name }) => ({
      field,
      message: `${name} does not exist`,
      remedy: 'correct the path',
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
  const { requestSeconds = NONE, silenceSeconds = NONE, isRequestDoubtful = false } = facts
  const seconds = agent.configuration.limits.seconds + ANSWER_SECONDS
  const isShared = variables.DATABASE_URL !== undefined
  return [
    ...when(isRequestDoubtful && seconds > requestSeconds, {
      field: 'limits.seconds',
      message: `plus ${ANSWER_SECONDS} s for the answer exceeds ${requestSeconds} s, after which ${title} may end a request even if it is active`,
      remedy: `set it to at most ${requestSeconds - ANSWER_SECONDS}`,
    }),
    ...when(seconds > silenceSeconds, {
      field: 'limits.seconds',
      message: `allows answers to take ${seconds} s, but ${title} cuts off responses that are not streamed after ${silenceSeconds} s`,
      remedy: 'stream the answers',
    }),
    ...when(sandboxOf(agent.configuration) === 'docker', {
      field: 'sandbox',
      message: 'has access to the Docker socket, and thereby to the whole machine',
      remedy: 'use a separate machine, or the sandbox embedded or e2b',
    }),
    ...when(facts.proxies === undefined && variables.TRUST_PROXY === undefined, {
      field: 'TRUST_PROXY',
      message: `is not set, and the number of proxies on ${title} is not known, so all clients appear to have the same address`,
      remedy: 'set it, see docs/guides/operations.md',
    }),
    ...when(variables.WATCH_FOLDERS !== undefined, {
      field: 'WATCH_FOLDERS',
      message: 'is left out, because its folders are on this machine',
      remedy: `mount folders on ${title} and set it there`,
    }),
    ...when(variables.CHAT_MODEL === 'extractive', {
      field: 'CHAT_MODEL',
      message: 'is extractive: answers consist of quotes, and tools are not used',
      remedy: 'set a model, see docs/guides/models.md',
    }),
    ...when(!isShared, {
      field: 'DATABASE_URL',
      message:
        'is not set: all documents are on the disk of one machine, and each update interrupts the service briefly',
      remedy: 'back up the disk as described below, or set it',
    }),
    ...when(isShared && count === 1 && facts.instances > 1, {
      field: '--instances',
      message: 'is 1: an update or failure of the instance interrupts the service',
      remedy: 'use at least 2',
    }),
  ]
}

const lowered: Check = ({ settings: { grace, fileLimit }, target: { title }, facts }) => {
  const { killSeconds, bodyBytes = NONE } = facts
  const longest = killSeconds - MIN_CLOSING_SECONDS
  return [
    ...when(grace > longest, {
      field: 'SHUTDOWN_GRACE',
      message: `is set to ${longest}: ${title} kills a server ${killSeconds} s after asking it to stop`,
      remedy: 'none is possible; longer streams are cut off',
    }),
    ...when(fileLimit > bodyBytes, {
      field: 'FILE_LIMIT',
      message: `is set to ${bodyBytes}, the largest request that ${title} accepts`,
      remedy: 'split larger files',
    }),
  ]
}

/** Every string inside a value, with its dotted path. */
function stringsOf(value: unknown, path: string): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) =>
    stringsOf(child, path === '' ? name : `${path}.${name}`),
  )
}
