import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { installErrorMessages } from '@agent-server/schemas/invalid-request.ts'
import { describe, expect, it } from 'vitest'
import { ConfigError, findMistyped, loadConfig, VARIABLE_NAMES } from '../src/config.ts'

// As src/main.ts does before it reads the configuration.
installErrorMessages()

/** The least that a start needs. */
const LEAST = { SERVER_API_KEY: 'a-key-for-tests-only', CHAT_MODEL: 'extractive' }

/** What loading an environment complains about, line by line. */
function mistakesOf(environment: Record<string, string>): string[] {
  try {
    loadConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n').slice(1)
    throw error
  }
  return []
}

describe('an environment', () => {
  it('needs no more than a key and a model that needs none', () => {
    expect(mistakesOf(LEAST)).toEqual([])
  })

  it.each(['change-me-to-a-long-key', 'your_server_api_key'])(
    'needs a key of its own, not one of an example: %s',
    (SERVER_API_KEY) => {
      expect(mistakesOf({ ...LEAST, SERVER_API_KEY })).toEqual([
        expect.stringContaining('must be a key of your own'),
      ])
    },
  )

  it('is refused with every mistake at once, each with the name of its variable', () => {
    const mistakes = mistakesOf({
      SERVER_API_KEY: 'short',
      PORT: 'http',
      TOP_K: '0',
      CHAT_BASE_URL: 'ftp://example.org',
      LOG_LEVEL: 'loud',
      SEARCH_LANGUAGE: 'klingon',
      DATABASE_URL: 'postgres://',
    })
    expect(mistakes.map((line) => /^ {2}(\w+) /.exec(line)?.[1])).toEqual([
      'SERVER_API_KEY',
      'PORT',
      'DATABASE_URL',
      'LOG_LEVEL',
      'CHAT_BASE_URL',
      'TOP_K',
      'SEARCH_LANGUAGE',
      'CHAT_API_KEY',
      'QDRANT_URL',
    ])
  })

  it.each(VARIABLE_NAMES)('is refused without a word of the value of %s', (name) => {
    // Too short for a key, no number, no URL, nothing of a list; where anything goes, nothing is told.
    const value = 's3cr\u00e9t'
    expect(mistakesOf({ ...LEAST, [name]: value }).join('\n')).not.toContain(value)
  })

  it('may hold variables of others', () => {
    expect(mistakesOf({ ...LEAST, PATH: '/bin', LANG: 'C' })).toEqual([])
  })

  it.each(VARIABLE_NAMES)('with an empty %s is one without it', (name) => {
    const whole: Record<string, string> = { ...LEAST, CHAT_API_KEY: 'key' }
    const { [name]: _left, ...without } = whole
    const outcome = (environment: Record<string, string>) =>
      mistakesOf(environment).length > 0 ? mistakesOf(environment) : loadConfig(environment)
    expect(outcome({ ...without, [name]: '' })).toEqual(outcome(without))
  })

  it('is left as it was', () => {
    const environment = { ...LEAST, PORT: '80', HOST: '' }
    const before = { ...environment }
    loadConfig(environment)
    expect(environment).toEqual(before)
  })
})

describe('a variable', () => {
  it.each([
    ['SERVER_API_KEY', 'fifteen-letters', 'must have at least 16 characters'],
    ['SERVER_API_KEY', 'a key with some blanks', 'must be printable ASCII without spaces'],
    ['SERVER_API_KEY', 'a-key-with-an-ümlaut', 'must be printable ASCII without spaces'],
    ['SERVER_API_KEY', 'a-key-with-a-newline\n', 'must be printable ASCII without spaces'],
    ['CHAT_API_KEY', 'a key', 'must be printable ASCII without spaces'],
    ['CHAT_API_KEY', 'key\n', 'must be printable ASCII without spaces'],
    ['PORT', '65536', 'must be at most 65535'],
    ['PORT', '-1', 'must be a whole number'],
    ['PORT', '3000.5', 'must be a whole number'],
    ['PORT', '0x10', 'must be a whole number'],
    ['PORT', '1e3', 'must be a whole number'],
    ['PORT', ' 3000', 'must be a whole number'],
    ['PORT', '9'.repeat(20), 'must be at most 65535'],
    ['TOP_K', '0', 'must be at least 1'],
    ['TOP_K', '101', 'must be at most 100'],
    ['DATABASE_POOL', '1', 'must be at least 2'],
    ['CHAT_CONTEXT_TOKENS', '999', 'must be at least 1000'],
    ['CHAT_IDLE_TIMEOUT', '0', 'must be at least 1'],
    ['CHAT_CONCURRENCY', '0', 'must be at least 1'],
    ['INGEST_CONCURRENCY', '513', 'must be at most 512'],
    ['INGEST_QUEUE_LIMIT', '0', 'must be at least 1'],
    ['BODY_LIMIT', '999', 'must be at least 1000'],
    ['SHUTDOWN_GRACE', '601', 'must be at most 600'],
    ['CHAT_BASE_URL', 'localhost:11434', 'must be a URL that begins with http:// or https://'],
    ['CHAT_BASE_URL', 'api.openai.com/v1', 'must be a URL that begins with http:// or https://'],
    ['CHAT_BASE_URL', 'javascript:alert(1)', 'must be a URL that begins with http:// or https://'],
    ['SEARCH_LANGUAGE', 'English', /^must be one of .*english/],
    ['EMBEDDING_MODEL_NEXT', 'none', /^must not be none/],
    ['LOG_LEVEL', 'verbose', 'must be one of trace, debug, info, warn, error, fatal, silent'],
    ['OUTBOUND_ALLOW', 'a b', /^must be host names, addresses or ranges/],
    ...[
      './inbox,',
      'handbook=',
      '/srv/a, /srv/a/',
      'x=a/b, a',
      'x=<public>',
      './inbox <hr>',
      './inbox <public> more',
      './inbox <public|>',
      '/srv/a\n/srv/b',
      Array(17).fill('a').join(),
    ].map((value): [string, string, RegExp] => [
      'WATCH_FOLDERS',
      value,
      /^must be at most 16 folders/,
    ]),
    ['WATCH_FOLDERS', './data/inbox', 'must not contain DATA_DIR, nor lie within it'],
    ['WATCH_FOLDERS', '/srv, .', 'must not contain DATA_DIR, nor lie within it'],
    ['WEBHOOK_SECRET', 'whsec_short', 'must be whsec_ and then 24 to 64 bytes in base64'],
    ['CORS_ORIGIN', 'example.org', /^must be origins like https:\/\/example\.org/],
    ['CORS_ORIGIN', 'https://example.org/', /^must be origins like https:\/\/example\.org/],
    ['CORS_ORIGIN', 'https://example.org/app', /^must be origins like https:\/\/example\.org/],
    ['CORS_ORIGIN', 'https://a.example,', /^must be origins like https:\/\/example\.org/],
    ['CORS_ORIGIN', 'https://*.example.org', /^must be origins like https:\/\/example\.org/],
    ...[
      'true',
      '0',
      '11',
      '1.5',
      '1,2',
      'proxy.internal',
      '10.0.0.0/0',
      '10.0.0.0/33',
      '10.0.0',
      '::1/129',
      'fe80::1%eth0',
      '10.0.0.1,',
      Array(33).fill('10.0.0.1').join(),
    ].map((value): [string, string, RegExp] => [
      'TRUST_PROXY',
      value,
      /^must be the number of proxies in front/,
    ]),
  ])('%s is refused when it is %j', (name, value, complaint) => {
    const lines = mistakesOf({ ...LEAST, [name]: value }).map((line) => line.trim())
    expect(lines).toHaveLength(1)
    const [first = ''] = lines
    expect(first.startsWith(`${name} `)).toBe(true)
    expect(first.slice(name.length + 1)).toMatch(complaint)
  })

  it.each([
    ['PORT', '0', 0],
    ['PORT', '65535', 65_535],
    ['PORT', '0080', 80],
    ['TOP_K', '100', 100],
    ['SHUTDOWN_GRACE', '0', 0],
    ['CHAT_BASE_URL', 'http://localhost:11434/v1', 'http://localhost:11434/v1'],
    ['SEARCH_LANGUAGE', 'none', 'none'],
    ['SEARCH_LANGUAGE', 'german', 'german'],
    ['CORS_ORIGIN', '*', ['*']],
    [
      'CORS_ORIGIN',
      'https://a.example, http://localhost:5173',
      ['https://a.example', 'http://localhost:5173'],
    ],
    ['CHAT_MODEL', 'extractive', 'extractive'],
    ['EMBEDDING_MODEL', 'builtin-multilingual', 'builtin-multilingual'],
    [
      'WATCH_FOLDERS',
      './inbox/, handbook=/srv//handbook, ./a=b, data2',
      [
        { path: 'inbox' },
        { path: '/srv/handbook', collection: 'handbook' },
        { path: 'a=b' },
        { path: 'data2' },
      ],
    ],
    ['TRUST_PROXY', '2', 2],
    ['TRUST_PROXY', '10.0.0.0/8, fd00::1', ['10.0.0.0/8', 'fd00::1']],
  ])('%s may be %j', (name, value, read) => {
    expect(loadConfig({ ...LEAST, [name]: value })).toMatchObject({ [name]: read })
  })
})

describe('a mistyped name', () => {
  it.each([
    ['CHAT_BASEURL', 'CHAT_BASE_URL'],
    ['EMBEDDINGS_MODEL', 'EMBEDDING_MODEL'],
    ['TOPKK', undefined],
    ['data_dir', 'DATA_DIR'],
    ['CHAT_CONTEXT_TOKNES', 'CHAT_CONTEXT_TOKENS'],
    ['DATABASE_URL', undefined],
    ['OPENAI_API_KEY', undefined],
    ['HOSTNAME', undefined],
  ])('%s: %s', (name, intended) => {
    expect(findMistyped({ ...LEAST, [name]: 'x' })).toEqual(intended ? [{ name, intended }] : [])
  })

  it('is told with what is missing because of it', () => {
    const mistyped = { ...LEAST, CHAT_MODEL: 'gpt', CHAT_APIKEY: 'sk' }
    expect(mistakesOf(mistyped)).toEqual([
      expect.stringContaining('CHAT_API_KEY is required'),
      '  CHAT_APIKEY is not a setting: did you mean CHAT_API_KEY?',
    ])
  })

  it('is none where the setting is set, too', () => {
    const both = { CHAT_BASE_URL: 'http://a/v1', CHAT_BASE_URL_2: 'http://b/v1' }
    expect(findMistyped({ ...LEAST, ...both })).toEqual([])
  })
})

describe('the chat model', () => {
  it('needs CHAT_API_KEY', () => {
    expect(mistakesOf({ ...LEAST, CHAT_MODEL: 'gpt-6.1-terra' })).toEqual([
      expect.stringMatching(/^ {2}CHAT_API_KEY is required .*CHAT_MODEL=extractive/),
    ])
  })

  it('needs CHAT_API_KEY also when it is the default one', () => {
    const { SERVER_API_KEY } = LEAST
    expect(mistakesOf({ SERVER_API_KEY })).toHaveLength(1)
    expect(loadConfig({ SERVER_API_KEY, CHAT_API_KEY: 'sk-1' }).CHAT_MODEL).toBe('gpt-6.1-terra')
  })

  it('needs no key where it is extractive', () => {
    expect(loadConfig(LEAST).CHAT_API_KEY).toBeUndefined()
  })
})

describe('the database', () => {
  const both = { ...LEAST, DATABASE_URL: 'postgresql://u:p@db/agent', QDRANT_URL: 'http://qdrant' }

  it('goes with an index that its servers share, and not without', () => {
    expect(mistakesOf(both)).toEqual([])
    expect(mistakesOf({ ...both, QDRANT_URL: '' })).toEqual([
      expect.stringMatching(/^ {2}QDRANT_URL is required with DATABASE_URL/),
    ])
  })

  it.each(['db.example.org', 'mysql://db/agent', 'postgres://', 'http://db'])(
    'is refused at %s',
    (url) => {
      expect(mistakesOf({ ...both, DATABASE_URL: url })).toEqual([
        '  DATABASE_URL must be a URL like postgres://user:password@host:5432/database',
      ])
    },
  )
})

describe('the embedding model', () => {
  it('needs a key of its own where the chat model has none', () => {
    const environment = { ...LEAST, EMBEDDING_MODEL: 'nomic-embed-text' }
    expect(mistakesOf(environment)).toEqual([
      expect.stringMatching(/^ {2}EMBEDDING_API_KEY is required with EMBEDDING_MODEL/),
    ])
    expect(mistakesOf({ ...environment, EMBEDDING_API_KEY: 'any' })).toEqual([])
    expect(mistakesOf({ ...environment, CHAT_API_KEY: 'any' })).toEqual([])
  })

  it.each([
    ['EMBEDDING_BASE_URL', 'localhost:11434', 'must be a URL that begins with http:// or https://'],
    ['EMBEDDING_API_KEY', 'a key', 'must be printable ASCII without spaces'],
  ])('is refused with %s of %j', (name, value, complaint) => {
    expect(mistakesOf({ ...LEAST, [name]: value })).toEqual([`  ${name} ${complaint}`])
  })
})

it('the embedding model to change to needs a key where no other has one', () => {
  const environment = { ...LEAST, EMBEDDING_MODEL_NEXT: 'bge-m3' }
  expect(mistakesOf(environment)).toEqual([
    expect.stringMatching(/^ {2}EMBEDDING_API_KEY_NEXT is required with EMBEDDING_MODEL_NEXT/),
  ])
  expect(mistakesOf({ ...environment, EMBEDDING_API_KEY_NEXT: 'any' })).toEqual([])
})

it('contexts of passages take a model that writes', () => {
  const environment = { ...LEAST, CHUNK_CONTEXT: 'chat', CHAT_MODEL: 'gpt', CHAT_API_KEY: 'any' }
  expect(mistakesOf(environment)).toEqual([])
  expect(mistakesOf({ ...environment, CHAT_MODEL: 'extractive' })).toEqual([
    '  CHUNK_CONTEXT must be off with CHAT_MODEL=extractive, which writes nothing',
  ])
})

it('citations are checked by a model that judges', () => {
  const environment = { ...LEAST, CITATION_CHECK: 'model', CHAT_MODEL: 'gpt', CHAT_API_KEY: 'any' }
  expect(mistakesOf(environment)).toEqual([])
  expect(mistakesOf({ ...environment, CHAT_MODEL: 'extractive' })).toEqual([
    '  CITATION_CHECK must be words with CHAT_MODEL=extractive, which judges nothing',
  ])
})

it('descriptions of pictures take a model that sees', () => {
  const chosen = { ...LEAST, PICTURE_DESCRIPTIONS: 'chat', CHAT_MODEL: 'gpt', CHAT_API_KEY: 'any' }
  expect(mistakesOf(chosen)).toEqual([])
  expect(mistakesOf({ ...chosen, CHAT_MODEL: 'extractive' })).toEqual([
    '  PICTURE_DESCRIPTIONS must be off with CHAT_MODEL=extractive, which sees nothing',
  ])
})

describe('the reranking model', () => {
  it('needs a key of its own where no other model has one', () => {
    const environment = { ...LEAST, RERANK_MODEL: 'bge-reranker-base' }
    expect(mistakesOf(environment)).toEqual([
      expect.stringMatching(/^ {2}RERANK_API_KEY is required with RERANK_MODEL/),
    ])
    for (const name of ['RERANK_API_KEY', 'EMBEDDING_API_KEY', 'CHAT_API_KEY']) {
      expect(mistakesOf({ ...environment, [name]: 'any' })).toEqual([])
    }
  })

  it('can be the chat model, with its key, but not one that only quotes', () => {
    const chat = { ...LEAST, RERANK_MODEL: 'chat', CHAT_MODEL: 'gpt', CHAT_API_KEY: 'any' }
    expect(mistakesOf(chat)).toEqual([])
    expect(mistakesOf({ ...chat, CHAT_MODEL: 'extractive' })).toEqual([
      '  RERANK_MODEL must not be chat with CHAT_MODEL=extractive, which cannot rerank',
    ])
  })

  it('is refused with an address that is none', () => {
    expect(mistakesOf({ ...LEAST, RERANK_BASE_URL: 'localhost' })).toEqual([
      '  RERANK_BASE_URL must be a URL that begins with http:// or https://',
    ])
  })
})

it('asks for no more copies of a change than Qdrant keeps', () => {
  const asked = (environment: Record<string, string>) => mistakesOf({ ...LEAST, ...environment })
  const mistake = '  QDRANT_WRITE_CONSISTENCY must not be more than QDRANT_REPLICAS'
  expect(asked({ QDRANT_WRITE_CONSISTENCY: '2' })).toEqual([mistake])
  expect(asked({ QDRANT_WRITE_CONSISTENCY: '2', QDRANT_REPLICAS: '2' })).toEqual([])
})

it('the configuration cannot be changed', () => {
  const config = loadConfig(LEAST)
  expect(() => Object.assign(config, { PORT: 80 })).toThrow(TypeError)
  expect(config.PORT).toBe(3_000)
})

describe('.env.example', () => {
  const text = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')

  it('is a working environment but for the server key', () => {
    const environment = parseEnv(text)
    const { SERVER_API_KEY } = LEAST
    expect(mistakesOf({ ...LEAST, ...environment, SERVER_API_KEY })).toEqual([])
    expect(environment.SERVER_API_KEY).toBe('')
  })

  it('shows defaults that are the same when they are set', () => {
    const shown = [...text.matchAll(/^#([A-Z][A-Z0-9_]*)=(.+)$/gm)]
    const set = Object.fromEntries(shown.map(([, name = '', value = '']) => [name, value]))
    const least = { CHAT_API_KEY: 'key', ...LEAST }
    expect(loadConfig({ ...least, ...set })).toEqual(loadConfig(least))
  })
})
