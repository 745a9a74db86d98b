import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { describe, expect, it } from 'vitest'
import { createRobots, isAllowed, parseRobots } from '../../../src/documents/web/robots.ts'
import { onlyLong } from '../../support/long.ts'
import { processorMs } from '../../support/processor-time.ts'
import { startSite } from '../../support/site.ts'

const allows = (text: string, path: string) => isAllowed(parseRobots(text), path)
const all = (rules: string) => `User-agent: *\n${rules}`

describe('robots.txt', () => {
  it.each([
    ['forbids nothing where it says nothing', '', '/a', true],
    ['forbids what begins so', all('Disallow: /a'), '/ab?c', false],
    ['forbids nothing by an empty rule', all('Disallow:'), '/a', true],
    ['follows the longest rule', all('Disallow: /a\nAllow: /a/b'), '/a/b/c', true],
    ['allows where two are as long', all('Disallow: /a\nAllow: /a'), '/a', true],
    ['knows a star', all('Disallow: /*/private*.pdf'), '/x/private/y.pdf', false],
    ['knows the end', all('Disallow: /*.php$'), '/a.php?b', true],
    ['finds the end behind a star', all('Disallow: /*.php$'), '/a.php.php', false],
    ['leaves comments out', all('Disallow: /a # not yet'), '/a', false],
    ['compares however letters are written', all('Disallow: /%7Ea/ä'), '/~a/%C3%A4', false],
    ['keeps what stands for itself', all('Disallow: /a%2fb'), '/a/b', true],
    [
      'takes its own group alone',
      `User-agent: Agent-Server/1.0\nDisallow: /a\n\n${all('Disallow: /')}`,
      '/b',
      true,
    ],
    [
      'takes a group of several names',
      'User-agent: x\nUser-agent: agent-server\nDisallow: /',
      '/b',
      false,
    ],
    [
      'joins groups of its own name',
      'User-agent: agent-server\nDisallow: /a\nUser-agent: y\nDisallow: /\nUser-agent: agent-server\nDisallow: /b',
      '/b',
      false,
    ],
    ['ignores what belongs to nobody', 'Disallow: /\nSitemap: /s', '/a', true],
  ])('%s', (_name, text, path, expected) => expect(allows(text, path)).toBe(expected))

  it('is read in time that grows with its length', () => {
    const hostile = all(`Disallow: /${'*a'.repeat(2_000)}$`)
    const before = processorMs()
    expect(allows(hostile, `/${'a'.repeat(20_000)}b`)).toBe(true)
    expect(processorMs() - before).toBeLessThan(2_000)
  })
})

describe('The robots.txt of a site', () => {
  const { signal } = new AbortController()
  const open = async (ignored: string[] = []) => {
    const site = await startSite()
    const policy = createOutboundPolicy(['127.0.0.1'])
    const { fetch } = createGuardedFetch(policy, { maxBytes: 1_000, idleMs: 5_000 })
    const robots = createRobots({ fetch, ignored })
    return { site, allows: () => robots.allows(new URL(`${site.url}/a`), signal) }
  }

  it('forbids all where it cannot be had for a fault of the site, and nothing where there is none', async () => {
    const broken = await open()
    broken.site.serve('/robots.txt', { status: 503 })
    expect(await broken.allows()).toBe(false)
    const without = await open()
    expect(await without.allows()).toBe(true)
  })

  it('is asked for once', async () => {
    const { site, allows } = await open()
    site.serve('/robots.txt', { body: all('Disallow: /a') })
    expect(await Promise.all([allows(), allows()])).toEqual([false, false])
    expect(site.requests).toHaveLength(1)
  })

  it('is not asked for on hosts that are named', async () => {
    const { site, allows } = await open(['127.0.0.1'])
    expect(await allows()).toBe(true)
    expect(site.requests).toEqual([])
  })

  it('are kept of many sites as long as they take little room together', onlyLong, async () => {
    const rules = Array.from({ length: 500 }, (_, i) => `Disallow: /${i}${'x'.repeat(1_000)}`).join(
      '\n',
    )
    const asked: string[] = []
    const robots = createRobots({
      ignored: [],
      fetch: async (url) => {
        asked.push(new URL(url).hostname)
        return new Response(all(rules))
      },
    })
    const ask = (site: number) =>
      robots.allows(
        new URL(`http://site-${site}.test/7${'x'.repeat(1_000)}`),
        AbortSignal.timeout(60_000),
      )
    for (let site = 0; site < 60; site++) expect(await ask(site)).toBe(false)
    expect(await ask(59)).toBe(false)
    expect(asked).toHaveLength(60)
    // Half a megabyte each: of the first, nothing is left.
    expect(await ask(0)).toBe(false)
    expect(asked).toHaveLength(61)
  })
})
