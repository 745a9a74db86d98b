import { describe, expect, it } from 'vitest'
import { findMistakes, loadLenientConfig, noticesOf } from '../src/config.ts'

const LEAST = { SERVER_API_KEY: 'a-key-for-tests-only', CHAT_MODEL: 'extractive' }

const mistakesOf = (environment: Record<string, string>) =>
  findMistakes(environment).map(({ field, message }) => `${field} ${message}`)

describe('an environment', () => {
  // docker/cli#3630, moby/moby#46773
  it.each([
    ['"a-key-for-tests-only"', '"/srv/data"', "'handbook'"],
    ['"a-key-for-tests-only', "'/srv/data", '"handbook'],
  ])('is refused where quotes of a file became a part of values: %s', (...values) => {
    const [SERVER_API_KEY = '', DATA_DIR = '', WATCH_FOLDERS = ''] = values
    const quoted = { ...LEAST, SERVER_API_KEY, DATA_DIR, WATCH_FOLDERS }
    expect(mistakesOf(quoted)).toEqual(
      ['SERVER_API_KEY', 'DATA_DIR', 'WATCH_FOLDERS'].map(
        (name) => `${name} must not begin with a quote: leave quotes out, or close them in .env`,
      ),
    )
    const lenient = loadLenientConfig(quoted, 'another-key-for-tests')
    expect(lenient).toMatchObject({ SERVER_API_KEY: 'another-key-for-tests', DATA_DIR: './data' })
    for (const DATA_DIR of ['/srv/"data"', `'"data`]) {
      expect(mistakesOf({ ...LEAST, DATA_DIR })).toEqual([])
    }
  })

  // cockroachdb/cockroach#14435
  it('is refused where a path begins with what only a shell replaces', () => {
    const paths = { DATA_DIR: '~/data', AGENT_CONFIG: '~/agent.json' }
    const whole =
      'must not begin with ~, which only a shell replaces: write the whole path (earlier versions used a folder ./~)'
    const expected = ['DATA_DIR', 'AGENT_CONFIG', 'WATCH_FOLDERS'].map((name) => `${name} ${whole}`)
    const none = loadLenientConfig(LEAST, 'another-key-for-tests')
    for (const WATCH_FOLDERS of ['~/Documents', './inbox, books=~/books <group:hr>']) {
      const wrong = { ...LEAST, ...paths, WATCH_FOLDERS }
      expect(mistakesOf(wrong)).toEqual(expected)
      const lenient = loadLenientConfig(wrong, 'another-key-for-tests')
      expect(lenient.DATA_DIR).toBe('./data')
      expect([lenient.AGENT_CONFIG, lenient.WATCH_FOLDERS]).toEqual([
        none.AGENT_CONFIG,
        none.WATCH_FOLDERS,
      ])
    }
    const kept = { DATA_DIR: './~/data', WATCH_FOLDERS: '/srv/~, ~backup' }
    expect(mistakesOf({ ...LEAST, ...kept })).toEqual([])
  })

  // docker/compose#9509
  it('is told of a variable that its file cuts short', () => {
    expect(noticesOf(LEAST, ['CHAT_API_KEY'])).toEqual([
      'CHAT_API_KEY ends before the # in .env: put the value in quotes if it goes on there',
    ])
  })
})
