// Asks a server by the client that openapi-generator makes.
package main

import (
	"context"
	"encoding/json"
	"os"

	agent "program/agent"
)

func main() {
	settings := agent.NewConfiguration()
	settings.Servers = agent.ServerConfigurations{{URL: os.Getenv("URL")}}
	settings.AddDefaultHeader("Authorization", "Bearer "+os.Getenv("KEY"))
	client := agent.NewAPIClient(settings)
	ctx := context.Background()
	question := os.Getenv("QUESTION")
	found, _, err := client.KnowledgeAPI.Query(ctx).QueryRequest(*agent.NewQueryRequest(question)).Execute()
	check(err)
	document := agent.NewCreateDocument()
	document.SetText("Geese fly south.")
	_, created, err := client.KnowledgeAPI.CreateDocument(ctx).CreateDocument(*document).Execute()
	check(err)
	_, missing, err := client.KnowledgeAPI.GetDocument(ctx, "nothing").Execute()
	if err == nil {
		panic("there is no such document")
	}
	content := agent.CompletionMessageSystemContent{String: &question}
	message := agent.CompletionMessageUserAsCompletionMessage(agent.NewCompletionMessageUser("user", content))
	request := agent.NewCompletionRequest([]agent.CompletionMessage{message})
	request.SetStream(false)
	answer, _, err := client.ChatAPI.CreateChatCompletion(ctx).CompletionRequest(*request).Execute()
	check(err)
	text := answer.Choices[0].Message.GetContent()
	said := []any{found.Hits[0].GetTitle(), created.StatusCode, missing.StatusCode, text}
	line, err := json.Marshal(said)
	check(err)
	os.Stdout.Write(line)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
