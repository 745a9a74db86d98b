import { expect, it } from 'vitest'
import { authHeaders } from '../../src/upstream/connection.ts'

const server = { apiKey: 'test-key-3f9c1d77', baseUrl: 'https://gateway.example.org/v1' }
const BEARER = { authorization: `Bearer ${server.apiKey}` }
const OWN = { 'x-api-key': server.apiKey, 'anthropic-version': '2023-06-01' }

it('sends the key as a bearer, unless the server is asked in Messages', () => {
  expect(authHeaders(server)).toEqual(BEARER)
  expect(authHeaders({ ...server, auth: 'x-api-key' })).toEqual({ ...OWN, ...BEARER })
})

it.each(['https://api.anthropic.com/v1', 'https://mine.services.ai.azure.com/anthropic'])(
  'sends no bearer to %s, which takes it for a token of another kind',
  (baseUrl) => {
    expect(authHeaders({ ...server, baseUrl, auth: 'x-api-key' })).toEqual(OWN)
  },
)
