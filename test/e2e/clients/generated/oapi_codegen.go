// Asks a server by the client that oapi-codegen makes.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"program/agent"
)

func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	signed := agent.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
		return nil
	})
	client := must(agent.NewClientWithResponses(os.Getenv("URL"), signed))
	ctx := context.Background()
	found := must(client.QueryWithResponse(ctx, agent.QueryRequest{Query: os.Getenv("QUESTION")}))
	text := "Geese fly south."
	document := agent.CreateDocument{Text: &text}
	created := must(client.CreateDocumentWithResponse(ctx, &agent.CreateDocumentParams{}, document))
	missing := must(client.GetDocumentWithResponse(ctx, "nothing"))
	var content agent.CompletionMessageUser_Content
	if err := content.FromCompletionMessageUserContent0(os.Getenv("QUESTION")); err != nil {
		panic(err)
	}
	var message agent.CompletionMessage
	if err := message.FromCompletionMessageUser(agent.CompletionMessageUser{Role: "user", Content: content}); err != nil {
		panic(err)
	}
	whole := false
	request := agent.CompletionRequest{Messages: []agent.CompletionMessage{message}, Stream: &whole}
	answer := must(client.CreateChatCompletionWithResponse(ctx, request))
	said := []any{
		found.JSON200.Hits[0].Title,
		created.StatusCode(),
		missing.JSON404.Error.Code,
		*answer.JSON200.Choices[0].Message.Content,
	}
	os.Stdout.Write(must(json.Marshal(said)))
}
