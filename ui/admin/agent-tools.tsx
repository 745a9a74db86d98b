import type { Tool } from '../../packages/client/src/agent-server.ts'
import type { CardState } from './agent-card.tsx'
import type { AgentEditor } from './agent-editor.ts'
import type { LoadedAgent } from './loaded-agent.ts'

const asksFirst = (editor: AgentEditor, name: string) =>
  editor.field('tools', name, 'approval') === 'always'

export function toolsState(editor: AgentEditor, { capabilities }: LoadedAgent): CardState {
  const names = Object.keys(editor.file.value?.toolSwitches ?? {})
  const on = names.filter((name) => editor.field('tools', name) !== false)
  if (capabilities && !capabilities.chat.tools) {
    return { tone: 'off', words: 'Not used: the chat model does not call tools' }
  }
  if (on.length === 0) return { tone: 'off', words: 'All off' }
  const asking = on.filter((name) => asksFirst(editor, name)).length
  const switched = on.length === names.length ? 'All on' : `${on.length} of ${names.length} on`
  return { tone: 'good', words: asking === 0 ? switched : `${switched}, ${asking} asking first` }
}

/** The built-in tools, each with its switch. */
export function Tools({ editor, tools }: { editor: AgentEditor; tools: readonly Tool[] }) {
  return (
    <ul class="stack">
      {Object.entries(editor.file.value?.toolSwitches ?? {}).map(([name, description]) => {
        const isOn = editor.field('tools', name) !== false
        return (
          <li key={name}>
            <label class="check">
              <input
                type="checkbox"
                checked={isOn}
                onChange={({ currentTarget }) => editor.set(['tools', name], currentTarget.checked)}
              />
              <span>
                {description} <code class="setting-name">{name}</code>
              </span>
            </label>
            {isOn && (
              <div class="below">
                <label class="check">
                  <input
                    type="checkbox"
                    checked={asksFirst(editor, name)}
                    onChange={({ currentTarget }) =>
                      editor.set(
                        ['tools', name],
                        currentTarget.checked ? { approval: 'always' } : true,
                      )
                    }
                  />
                  <span class="hint">
                    Ask before each call<span class="visually-hidden"> of {name}</span>
                  </span>
                </label>
              </div>
            )}
            <div class="below">
              {tools
                .filter((tool) => tool.switch === name)
                .map((tool) => (
                  <Definition key={tool.name} tool={tool} />
                ))}
            </div>
          </li>
        )
      })}
    </ul>
  )
}

/** The description of a tool that the model gets. */
function Definition({ tool }: { tool: Tool }) {
  return (
    <details class="settings">
      <summary>
        Definition of <code>{tool.name}</code>
      </summary>
      <p class="hint">{tool.description}</p>
      <pre class="code">{JSON.stringify(tool.inputSchema, null, 2)}</pre>
    </details>
  )
}
