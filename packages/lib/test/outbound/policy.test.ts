import { refusalOf } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { describe, expect, it } from 'vitest'
import { FORBIDDEN_ADDRESSES } from './forbidden-hosts-for-test.ts'

describe('Without a list', () => {
  const policy = createOutboundPolicy([])

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
    '%s may be called',
    (address) => {
      expect(policy.allowsAddress(address)).toBe(true)
    },
  )

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['loopback', '::1'],
    ['this network', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['this network', '::'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['private', 'fc00::1'],
    ['the metadata of a cloud', '169.254.169.254'],
    ['the metadata of a cloud', 'fd00:ec2::254'],
    ['the platform of a cloud', '168.63.129.16'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['shared by a carrier', '100.64.0.1'],
    ['reserved', '192.0.0.8'],
    ['for documents', '192.0.2.1'],
    ['for documents', '2001:db8::1'],
    ['for benchmarks', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['broadcast', '255.255.255.255'],
    ['IPv4 in IPv6', '::ffff:127.0.0.1'],
    ['IPv4 in IPv6', '::ffff:a00:1'],
    ['IPv4 in IPv6, an old way', '::127.0.0.1'],
    ['IPv4 in IPv6, an old way', '::7f00:1'],
    ['of a range that nobody was given', '4000::1'],
    ['translated', '64:ff9b::7f00:1'],
    ['translated', '64:ff9b:1::7f00:1'],
    ['translated', '::ffff:0:127.0.0.1'],
    ['tunnelled', '2002:7f00:1::'],
    ['tunnelled', '2001::1'],
    ['no address', 'localhost'],
  ])('an address that is %s may not: %s', (_kind, address) => {
    expect(policy.allowsAddress(address)).toBe(false)
  })

  it.each(FORBIDDEN_ADDRESSES)(
    'an address is refused before anything is sent: %s',
    (_form, host) => {
      expect(refusalOf(`http://${host}/`, policy)).toMatchObject({ kind: 'forbidden' })
    },
  )

  it.each([
    'ftp://example.org/',
    'file:///etc/passwd',
    'http://user:word@example.org/',
    'http://user@example.org/',
    'http://:word@example.org/',
    'nonsense',
  ])('%s is no URL to be called', (url) => {
    expect(refusalOf(url, policy)).toMatchObject({ kind: 'forbidden' })
  })

  it('a name is judged by its addresses, later', () => {
    expect(refusalOf('http://localhost/', policy)).toBeUndefined()
  })

  it('no name is trusted', () => expect(policy.allowsName('localhost')).toBe(false))
})

describe('A list', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '::ffff:127.0.0.1'],
    ['10.1.0.0/16', '10.1.255.255'],
    ['[::1]', '::1'],
    ['fd12::/16', 'fd12:3::4'],
    ['64:ff9b::/96', '64:ff9b::808:808'],
  ])('with %s lets %s be called', (entry, address) => {
    expect(createOutboundPolicy(['other', entry]).allowsAddress(address)).toBe(true)
  })

  it.each([
    ['127.0.0.1', '127.0.0.2'],
    ['10.1.0.0/16', '10.2.0.0'],
    ['10.1.0.0/16', '::ffff:10.2.0.1'],
    ['10.1.0.0/16', 'fd00::1'],
    ['fd12::/16', 'fd13::1'],
    ['fd12::1', 'fd12::2'],
    ['localhost', '127.0.0.1'],
  ])('with %s does not let %s be called', (entry, address) => {
    expect(createOutboundPolicy([entry]).allowsAddress(address)).toBe(false)
  })

  it('trusts its names, in any case, with or without a dot at the end, and no others', () => {
    const { allowsName } = createOutboundPolicy(['Hooks.internal', 'my_service.', 'n'])
    const names = ['hooks.internal', 'HOOKS.INTERNAL.', 'my_service', 'n']
    expect(names.filter(allowsName)).toEqual(names)
    expect(allowsName('evil.hooks.internal')).toBe(false)
  })

  it.each([
    '',
    '10.0.0.0/33',
    'http://a',
    'a:80',
    'a/b',
    'a!b',
    'a-',
    'a[::1]',
    '[::1]:80',
    'a.1',
    '*.internal',
    '0x7f.1',
    '2130706433',
    'ü',
  ])('may not hold %j', (entry) => {
    expect(() => createOutboundPolicy([entry])).toThrow(RangeError)
  })
})
