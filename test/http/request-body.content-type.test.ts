import { expect, it } from 'vitest'
import { contentTypeOf, isStreamedBody } from '../../src/http/request-body.ts'

it.each([
  ['multipart/form-data; boundary=b', 'multipart/form-data', true],
  ['Multipart/Form-Data ;boundary=b', 'multipart/form-data', true],
  ['application/x-ndjson', 'application/x-ndjson', true],
  ['application/x-ndjson-too', 'application/x-ndjson-too', false],
  ['application/json', 'application/json', false],
  [undefined, '', false],
])('The media type of a body said to be %s is %s', (header, type, isStreamed) => {
  const headers = header === undefined ? {} : { 'content-type': header }
  expect(contentTypeOf(headers)).toBe(type)
  expect(isStreamedBody(headers)).toBe(isStreamed)
})
