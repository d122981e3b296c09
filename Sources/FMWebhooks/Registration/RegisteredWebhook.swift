import FMData

/// A webhook as a server describes it, in either of the two recorded spellings.
///
/// Source: Claris OData guide, "Get all webhooks"; recorded answers.
struct RegisteredWebhook: Hashable, Sendable {
    /// An operation that has not been delivered yet.
    struct Pending: Hashable, Sendable {
        var operation: String
        var attempts: Int
        var errorCode: Int
        var errorMessage: String
    }

    /// Valid only until a webhook is deleted: the next new one gets the lowest free id.
    var id: Int
    var url: String
    var table: String
    /// `nil` if the server does not return them.
    var headers: [String: String]?
    var select: String?
    var filter: String?
    var notifiesSchemaChanges: Bool?
    var pending: [Pending] = []
}

extension RegisteredWebhook: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try LowercasedMembers(decoder)
        guard let id = members.integer("webhookid", "id"), let url = members.first("webhook", "url", as: String.self)
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a webhook without its id or its URL")
            )
        }
        self.id = id
        self.url = url
        table = members.first("tablename", "table") ?? ""
        headers = members.first("endpointheaders", "headers")
        select = members.first("select")
        filter = members.first("filter")
        notifiesSchemaChanges = members.first("notifyschemachanges")
        pending = members.first("pendingoperations") ?? []
    }
}

extension RegisteredWebhook.Pending: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try LowercasedMembers(decoder)
        operation = members.first("operation") ?? ""
        attempts = members.integer("sendattempts") ?? 0
        errorCode = members.integer("lasterrorcode") ?? 0
        errorMessage = members.first("lasterrormessage") ?? ""
    }
}

// MARK: Answers

/// The result of a call about webhooks.
enum WebhookAnswer: Equatable {
    /// `Webhook.GetAll`: every webhook of the database, including those of other programs.
    case hooks([RegisteredWebhook])
    /// `Webhook.Get`; `nil` if there is none with that id.
    case hook(RegisteredWebhook?)
    /// `Webhook.Add`, `Webhook.Delete`
    case done
    /// The server understood the call and rejected it.
    case refused(status: Int, reason: String)
    /// There is no usable answer: whether the call was carried out is unknown.
    case failed(reason: String)
}

extension WebhookAnswer {
    private struct List: Decodable {
        /// An unreadable element becomes `nil`: it is not a webhook of this library.
        private struct Element: Decodable {
            var hook: RegisteredWebhook?

            init(from decoder: any Decoder) throws { hook = try? RegisteredWebhook(from: decoder) }
        }

        var hooks: [RegisteredWebhook]

        init(from decoder: any Decoder) throws {
            let members = try LowercasedMembers(decoder)
            guard let elements = members.first("webhooks", "webhook", as: [Element].self) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no list of webhooks")
                )
            }
            hooks = elements.compactMap(\.hook)
        }
    }

    private struct Refusal: Decodable {
        private struct Text: Decodable {
            var code: String?
            var message: String?

            init(from decoder: any Decoder) throws {
                let members = try LowercasedMembers(decoder)
                code = members.first("code") ?? members.integer("code").map(String.init)
                message = members.first("message")
            }
        }

        var reason: String?

        init(from decoder: any Decoder) throws {
            guard let text = try LowercasedMembers(decoder).first("error", as: Text.self) else { return }
            reason = [text.code.map { "code \($0)" }, text.message].compactMap(\.self).joined(separator: ": ")
        }
    }

    /// The result of a call, by its kind and the answer.
    init(_ call: RegistrarStateMachine.Call, _ result: Result<ODataAnswer, FMRest.APIError>) {
        switch result {
        case .failure(let error): self = .failed(reason: "\(error)")
        case .success(let answer) where (200..<300).contains(answer.status): self.init(call, read: answer)
        case .success(let answer):
            let refusal = try? FMDecoder().decode(Refusal.self, from: answer.body)
            let reason = refusal?.reason ?? "HTTP status \(answer.status)"
            switch (call, answer.status) {
            case (.get, 404) where refusal?.reason != nil: self = .hook(nil)
            case (_, 400..<500): self = .refused(status: answer.status, reason: reason)
            default: self = .failed(reason: reason)
            }
        }
    }

    private init(_ call: RegistrarStateMachine.Call, read answer: ODataAnswer) {
        do {
            switch call {
            case .list: self = .hooks(try FMDecoder().decode(List.self, from: answer.body).hooks)
            case .get: self = .hook(try FMDecoder().decode(RegisteredWebhook.self, from: answer.body))
            case .add, .delete: self = .done
            }
        } catch {
            self = .failed(reason: "The answer about webhooks cannot be read: \(error)")
        }
    }
}
