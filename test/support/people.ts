import type { RequestOptions, TestServer } from './server.ts'

/** Somebody with groups, for whom a trusted program speaks. */
export interface TestPerson {
  name: string
  groups?: readonly string[]
}

/** Requests that the master key makes for a person. */
export function speakingFor(
  server: Pick<TestServer, 'request'>,
  { name, groups = [] }: TestPerson,
): TestServer['request'] {
  return (path, { headers, ...rest }: RequestOptions = {}) =>
    server.request(path, {
      ...rest,
      headers: { ...headers, 'agent-user': name, 'agent-user-groups': groups.join() },
    })
}
