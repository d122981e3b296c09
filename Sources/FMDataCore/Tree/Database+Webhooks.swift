package import OpenCombine

// For FMWebhooks, which decides what to call and reads the answers. Each publishes one value, also for a refusal;
// nothing is sent before demand; values arrive on the client's background threads.
extension DataAPI.Database {
    /// `Webhook.GetAll`
    package func webhooks(_ credentials: DataAPI.Credentials) -> AnyPublisher<ODataAnswer, FMRest.APIError> {
        server.perform { .webhooks(in: self.name, credentials) }
    }

    /// `Webhook.Get(id)`
    package func webhook(_ id: Int, _ credentials: DataAPI.Credentials) -> AnyPublisher<ODataAnswer, FMRest.APIError> {
        server.perform { .webhook(id, in: self.name, credentials) }
    }

    /// `Webhook.Add`
    package func addWebhook(
        _ definition: WebhookDefinition,
        _ credentials: DataAPI.Credentials
    ) -> AnyPublisher<ODataAnswer, FMRest.APIError> {
        server.perform { .addWebhook(definition, in: self.name, credentials) }
    }

    /// `Webhook.Delete(id)`
    package func deleteWebhook(
        _ id: Int,
        _ credentials: DataAPI.Credentials
    ) -> AnyPublisher<ODataAnswer, FMRest.APIError> {
        server.perform { .deleteWebhook(id, in: self.name, credentials) }
    }
}
