extension Sandbox {
    /// The part of the OData interface that a sandbox offers.
    public enum OData: Sendable, Equatable {
        /// None: its paths are answered with 404.
        case off
        /// The calls that register webhooks, such as `/fmi/odata/v4/…/Webhook.Add` on the same port, and the webhooks'
        /// deliveries, but nothing else of OData.
        case webhooks(WebhookTraits = WebhookTraits())
    }

    /// The traits in which servers with webhooks differ, or are reported to differ.
    public struct WebhookTraits: Sendable, Equatable {
        /// The spelling of keys in answers. Both were recorded.
        public enum Spelling: Sendable, CaseIterable {
            /// `status`, `webhooks`, `webhookID`, `webhook`, `webhookResult`.
            case lower
            /// `Status`, `WebHook`, `webHookID`, `url`, `webHookResult`.
            case camel
        }

        /// The body of a delivery about deleted records.
        public enum DeleteBody: Sendable, CaseIterable {
            /// A row for each record, with its `ROWID` only.
            case rowidOnly
            /// No rows.
            case emptyValue
        }

        /// The spelling of keys in answers. The default is ``Spelling/lower``.
        public var spelling: Spelling
        /// Whether `Webhook.Add` accepts `endpointHeaders`, `queryHeaders` and `maxFailedAttempts`. If not, they are
        /// error -1009, and only `headers` is accepted. The default is true.
        public var takesEndpointHeaders: Bool
        /// Whether ``Sandbox/truncate(table:inDatabase:)`` causes a delivery with the `ROWID` -1, as on servers of
        /// version 26. The default is true.
        public var firesOnTruncate: Bool
        /// Whether the first `Webhook.GetAll` after the start and after each restart answers with an empty list. The
        /// default is false.
        public var coldList: Bool
        /// The body of a delivery about deleted records. The default is ``DeleteBody/rowidOnly``.
        public var deleteBody: DeleteBody

        /// Creates the traits of a server; see the properties.
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

    /// A failure in the delivery of an operation, which occurs when the operation becomes the first of its queue. More
    /// may be added in later versions.
    public struct WebhookFault: Sendable, Equatable {
        enum Kind: Sendable, Equatable {
            case drop, duplicate, swap, stuck, garbageBody
            case delay(Duration)
        }

        let kind: Kind

        /// It counts as delivered, but is not sent.
        public static let drop = Self(kind: .drop)
        /// It is delivered twice.
        public static let duplicate = Self(kind: .duplicate)
        /// It and the operation after it are delivered in the opposite order. It waits for the one after it.
        public static let swap = Self(kind: .swap)
        /// It is delivered after this duration, on the sandbox's clock.
        public static func delay(_ duration: Duration) -> Self { Self(kind: .delay(duration)) }
        /// It cannot be rendered (-1002), and is tried again and again until ``Sandbox/clearWebhookFaults()``. The
        /// operations after it wait.
        public static let stuck = Self(kind: .stuck)
        /// Its body is not JSON, as with a number `.5` and a failed calculation `?`.
        public static let garbageBody = Self(kind: .garbageBody)
    }

    /// A registered webhook.
    public struct Webhook: Sendable, Equatable {
        /// Its id: the lowest one that was free.
        public var id: Int
        /// The database.
        public var database: String
        /// The table occurrence, spelled as it was registered.
        public var table: String
        /// The URL that receives the deliveries.
        public var url: String
        /// Headers that each delivery has.
        public var headers: [String: String]
        /// The number of operations that are not delivered yet.
        public var pendingCount: Int
        /// The number of attempts to deliver the first of these.
        public var attempts: Int

        /// Creates a webhook, for comparisons in tests.
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
        /// The ids of the records.
        public var rowIDs: [Int]
        /// The HTTP status of the receiver's answer; nil if there was none, nothing was sent, or the body could not be
        /// rendered.
        public var status: Int?

        /// Creates an attempt, for comparisons in tests.
        public init(webhookID: Int, operation: String, rowIDs: [Int], status: Int?) {
            self.webhookID = webhookID
            self.operation = operation
            self.rowIDs = rowIDs
            self.status = status
        }
    }

    /// The registered webhooks, in the order in which `Webhook.GetAll` lists them.
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

    /// All attempts to deliver an operation so far, in their order.
    public var webhookDeliveries: [WebhookDelivery] { engine.withState { $0.webhooks.deliveries } }

    /// Returns once there were at least `count` attempts to deliver an operation, or the task is cancelled.
    public func untilWebhookDeliveries(_ count: Int) async { await engine.webhookSender.deliveryCount.until(count) }

    /// Adds faults for the next operations to be delivered, one for each operation.
    public func inject(webhook faults: WebhookFault...) { engine.withState { $0.webhooks.faults += faults } }

    /// Removes the faults of webhooks that are still to come, and ends ``WebhookFault/stuck`` for operations that have
    /// it.
    public func clearWebhookFaults() { engine.withState { $0.webhooks.clearFaults() } }

    /// Deletes all records of a table at once, as the script step Truncate Table does, without checks of the single
    /// records. Webhooks get a delivery if ``WebhookTraits/firesOnTruncate`` is set.
    ///
    /// Throws ``FileMakerError`` 802 or 106 if there is no such database or table.
    public func truncate(table: String, inDatabase database: String) throws {
        engine.truncate(try engine.model.table(table, ofDatabase: database).place)
    }
}
