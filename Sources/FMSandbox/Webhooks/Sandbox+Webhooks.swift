extension Sandbox {
    /// Which part of the OData interface a sandbox has.
    public enum OData: Sendable, Equatable {
        /// None: its paths answer 404.
        case off
        /// The calls that register webhooks, and the webhooks: `/fmi/odata/v4/…/Webhook.Add` and the like, on the same port. Nothing
        /// else of OData.
        case webhooks(WebhookTraits = WebhookTraits())
    }

    /// In what servers with webhooks differ, or are said to.
    public struct WebhookTraits: Sendable, Equatable {
        /// How answers are spelled. Both are on record.
        public enum Spelling: Sendable, CaseIterable {
            /// `status`, `webhooks`, `webhookID`, `webhook`, `webhookResult`.
            case lower
            /// `Status`, `WebHook`, `webHookID`, `url`, `webHookResult`.
            case camel
        }

        /// What a delivery says of records that are gone.
        public enum DeleteBody: Sendable, CaseIterable {
            /// A row for each, with its `ROWID` alone.
            case rowidOnly
            /// No rows.
            case emptyValue
        }

        /// How answers are spelled. The default is ``Spelling/lower``.
        public var spelling: Spelling
        /// Whether `Webhook.Add` takes `endpointHeaders`, `queryHeaders` and `maxFailedAttempts`; it refuses them with -1009
        /// otherwise, and takes `headers` alone. The default is true.
        public var takesEndpointHeaders: Bool
        /// Whether ``Sandbox/truncate(table:inDatabase:)`` is delivered, with -1 as its `ROWID`, as by servers of version 26. The
        /// default is true.
        public var firesOnTruncate: Bool
        /// Whether the first `Webhook.GetAll` after the start and after each restart answers an empty list. The default is false.
        public var coldList: Bool
        /// What a delivery says of records that are gone. The default is ``DeleteBody/rowidOnly``.
        public var deleteBody: DeleteBody

        /// The traits of a server; see the properties.
        public init(
            spelling: Spelling = .lower,
            takesEndpointHeaders: Bool = true,
            firesOnTruncate: Bool = true,
            coldList: Bool = false,
            deleteBody: DeleteBody = .rowidOnly
        ) {
            self.spelling = spelling
            self.takesEndpointHeaders = takesEndpointHeaders
            self.firesOnTruncate = firesOnTruncate
            self.coldList = coldList
            self.deleteBody = deleteBody
        }
    }

    /// Something that goes wrong with an operation that a webhook is to deliver, when its turn comes.
    public enum WebhookFault: Sendable, Equatable {
        /// It counts as delivered, and never was.
        case drop
        /// It is delivered twice.
        case duplicate
        /// It and the one behind it are delivered in the other order. It waits for the one behind it.
        case swap
        /// It is delivered after so long, on the sandbox's clock.
        case delay(Duration)
        /// It cannot be rendered (-1002), and is tried again and again until ``Sandbox/clearWebhookFaults()``; what is behind it
        /// waits.
        case stuck
        /// Its body is no JSON, as with a number `.5` and a failed calculation `?`.
        case garbageBody
    }

    /// A registered webhook.
    public struct Webhook: Sendable, Equatable {
        /// Its id: the lowest that was free.
        public var id: Int
        /// The database.
        public var database: String
        /// The table occurrence, spelled as it was registered.
        public var table: String
        /// Where deliveries go.
        public var url: String
        /// What each delivery has among its headers.
        public var headers: [String: String]
        /// How many operations have yet to be delivered.
        public var pendingCount: Int
        /// How often the first of these was tried.
        public var attempts: Int

        /// A webhook of your own making, to compare with.
        public init(
            id: Int,
            database: String,
            table: String,
            url: String,
            headers: [String: String] = [:],
            pendingCount: Int = 0,
            attempts: Int = 0
        ) {
            self.id = id
            self.database = database
            self.table = table
            self.url = url
            self.headers = headers
            self.pendingCount = pendingCount
            self.attempts = attempts
        }
    }

    /// An attempt to deliver an operation.
    public struct WebhookDelivery: Sendable, Equatable {
        /// The id of the webhook at that time.
        public var webhookID: Int
        /// `ADD`, `UPDATE` or `DELETE`.
        public var operation: String
        /// The records it is about.
        public var rowIDs: [Int]
        /// The HTTP status of the receiver's answer; nil where none came, nothing was sent, or it could not be rendered.
        public var status: Int?

        /// An attempt of your own making, to compare with.
        public init(webhookID: Int, operation: String, rowIDs: [Int], status: Int?) {
            self.webhookID = webhookID
            self.operation = operation
            self.rowIDs = rowIDs
            self.status = status
        }
    }

    /// The registered webhooks, in the order in which `Webhook.GetAll` tells of them.
    public var webhooks: [Webhook] {
        engine.withState { state in
            state.webhooks.hooks.map { hook in
                Webhook(
                    id: hook.id,
                    database: engine.model.databases[hook.database].name,
                    table: hook.occurrence,
                    url: hook.url,
                    headers: hook.headers,
                    pendingCount: hook.queue.count,
                    attempts: hook.queue.first?.attempts ?? 0
                )
            }
        }
    }

    /// All attempts to deliver something so far, in their order.
    public var webhookDeliveries: [WebhookDelivery] { engine.withState { $0.webhooks.deliveries } }

    /// Returns once there have been at least so many attempts to deliver something. Returns too when the task is cancelled.
    public func untilWebhookDeliveries(_ count: Int) async { await engine.webhookSender.deliveryCount.until(count) }

    /// Lets something go wrong with the next operations that are to be delivered, one fault for each in turn.
    public func inject(webhook faults: WebhookFault...) { engine.withState { $0.webhooks.faults += faults } }

    /// Forgets the faults of webhooks that are still to come, and lets what is stuck be tried as it should be.
    public func clearWebhookFaults() { engine.withState { $0.webhooks.clearFaults() } }

    /// Deletes all records of a table at once, as the script step Truncate Table does: no record is looked at, and webhooks hear of
    /// it where ``WebhookTraits/firesOnTruncate`` says so.
    ///
    /// Throws ``FileMakerError`` 802 or 106 when there is no such database or table.
    public func truncate(table: String, inDatabase database: String) throws {
        engine.truncate(try engine.model.table(table, ofDatabase: database).place)
    }
}
