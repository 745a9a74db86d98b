/** What the files of a sandbox may take; counted upwards as they grow, and anew once that seems too much. */
export interface Quota {
  /** Whether `bytes` and `nodes` more may be had; counts them where they may. */
  take(bytes: number, nodes: number): boolean
}

export interface Usage {
  bytes: number
  nodes: number
}

/** `measure` counts what there is; it takes a walk through all of it, so it is asked only at the limit. */
export function createQuota(most: Usage, measure: () => Usage): Quota {
  let used: Usage = { bytes: 0, nodes: 0 }
  const fits = (bytes: number, nodes: number) =>
    used.bytes + bytes <= most.bytes && used.nodes + nodes <= most.nodes

  return {
    take(bytes, nodes) {
      // What was deleted in the meantime shows in the measure alone.
      if (!fits(bytes, nodes)) used = measure()
      if (!fits(bytes, nodes)) return false
      used.bytes += bytes
      used.nodes += nodes
      return true
    },
  }
}
