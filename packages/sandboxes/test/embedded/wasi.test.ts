import { describe, expect, it } from 'vitest'
import { InputStream, OutputBudget, OutputStream } from '../../src/embedded/wasi.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('The output of a run', () => {
  function create(most: number) {
    const budget = new OutputBudget(most)
    budget.renew()
    return { budget, out: new OutputStream(budget), err: new OutputStream(budget) }
  }

  it('is kept up to a bound that both streams share, and dropped beyond', () => {
    const { budget, out, err } = create(8)
    expect(out.fd_write(bytesOf('hello'))).toMatchObject({ nwritten: 5 })
    expect(budget.cut).toBe(false)
    expect(err.fd_write(bytesOf('world'))).toMatchObject({ nwritten: 5 })
    expect(budget.cut).toBe(true)
    expect(out.fd_write(bytesOf('more'))).toMatchObject({ nwritten: 4 })
    expect([out.drain().toString(), err.drain().toString()]).toEqual(['hello', 'wor'])
  })

  it('begins anew with the next run', () => {
    const { budget, out } = create(4)
    out.fd_write(bytesOf('too long'))
    out.drain()
    budget.renew()
    out.fd_write(bytesOf('next'))
    expect(budget.cut).toBe(false)
    expect(out.drain().toString()).toBe('next')
  })

  it('is a copy: the program may use its memory again', () => {
    const { out } = create(10)
    const memory = bytesOf('before')
    out.fd_write(memory)
    memory.fill(0)
    expect(out.drain().toString()).toBe('before')
  })
})

describe('The input of a run', () => {
  it('is read once, then has ended, until the next run has its own', () => {
    const input = new InputStream()
    input.renew(bytesOf('abcd'))
    const read = (size: number) => Buffer.from(input.fd_read(size).data).toString()
    expect([read(3), read(3), read(3)]).toEqual(['abc', 'd', ''])
    input.renew(bytesOf('next'))
    expect(read(10)).toBe('next')
  })
})
