import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { droppedFiles } from './dropped-files.ts'
import type { ChosenFile } from './uploads.ts'

/** The whole page as a place to drop files. */
export function DropPlace({
  label,
  onDropped,
}: {
  label: string
  onDropped: (files: ChosenFile[]) => void
}) {
  const isOver = useSignal(false)
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      isOver.value = true
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) isOver.value = false
    }
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer || !hasFiles(event)) return
      event.preventDefault()
      isOver.value = false
      void droppedFiles(event.dataTransfer).then(onDropped)
    }
    document.addEventListener('dragover', over)
    document.addEventListener('dragleave', leave)
    document.addEventListener('drop', drop)
    return () => {
      document.removeEventListener('dragover', over)
      document.removeEventListener('dragleave', leave)
      document.removeEventListener('drop', drop)
    }
  }, [])
  return isOver.value ? <div class="drop-place">{label}</div> : null
}
