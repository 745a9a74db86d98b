import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ChatApi;
import org.openapitools.client.api.KnowledgeApi;
import org.openapitools.client.model.CompletionMessage;
import org.openapitools.client.model.CompletionMessageSystemContent;
import org.openapitools.client.model.CompletionMessageUser;
import org.openapitools.client.model.CompletionRequest;
import org.openapitools.client.model.CreateDocument;
import org.openapitools.client.model.QueryRequest;

/** Asks a server by the client that openapi-generator makes. */
public class Program {
  public static void main(String[] arguments) throws ApiException {
    String question = System.getenv("QUESTION");
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("URL"));
    client.setBearerToken(System.getenv("KEY"));
    KnowledgeApi knowledge = new KnowledgeApi(client);
    String title = knowledge.query(new QueryRequest().query(question)).getHits().get(0).getTitle();
    CreateDocument document = new CreateDocument().text("Geese fly south.");
    int created = knowledge.createDocumentWithHttpInfo(document, null, null, null).getStatusCode();
    int missing = 0;
    try {
      knowledge.getDocument("nothing");
    } catch (ApiException error) {
      missing = error.getCode();
    }
    CompletionMessageUser user = new CompletionMessageUser();
    user.setRole(CompletionMessageUser.RoleEnum.USER);
    user.setContent(new CompletionMessageSystemContent(question));
    CompletionRequest request = new CompletionRequest().stream(false);
    request.setMessages(List.of(new CompletionMessage(user)));
    String answer =
        new ChatApi(client).createChatCompletion(request).getChoices().get(0).getMessage().getContent();
    System.out.println(client.getJSON().getGson().toJson(List.of(title, created, missing, answer)));
  }
}
