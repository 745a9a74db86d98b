/** Stands where something is about to be; seen only if it takes a while. */
export function Skeleton({ rows = 3 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} class="skeleton-row" />
      ))}
    </div>
  )
}
