public import FMDataCore

extension DataAPI {
    /// The result of a write: of a row of a batch or a commit, of a save, of an upsert.
    ///
    ///     if row.result.kind == .created { print(row.result.recordId!) }
    ///     if let error = row.result.error { … }                        // it failed, or nobody knows
    public struct WriteResult: Sendable {
        /// The kinds of results. More may be added: a `switch` over it needs a `default`.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// The name of the kind.
            public let description: String

            private init(_ description: String) {
                self.description = description
            }

            /// The record was created.
            public static let created = Kind("created")
            /// The record holds what was to be written.
            public static let updated = Kind("updated")
            /// Nothing was written: the record already held the values, or was left as another client has changed it.
            public static let unchanged = Kind("unchanged")
            /// The record does not exist any more.
            public static let deleted = Kind("deleted")
            /// The host did not carry the write out, or a change of another client prevents it.
            public static let failed = Kind("failed")
            /// The host may have carried the write out, and it cannot be determined whether: it is not sent again.
            public static let unknown = Kind("unknown")
            /// The write was not sent, because the batch or commit it belongs to had ended before.
            public static let skipped = Kind("skipped")
        }

        /// The kind of result.
        public var kind: Kind
        /// The record that was written, if it is known.
        public var recordId: Int?
        /// The record's modification id after the write, if it is known: some servers leave it out for new records.
        public var modId: Int?
        /// For a deleted record: `false` if it had been deleted before; `nil` if that is unknown, because an earlier
        /// attempt whose answer was lost may have deleted it.
        public var wasThere: Bool?
        /// Why the write failed, or why its outcome is unknown.
        public var error: FMRest.APIError?
        /// The messages of the host's answer; see ``DataAPI/Message``. Empty for a write whose answer was lost.
        public var messages: [Message] = []
        /// The results of the scripts that ran with the write; `nil` when none ran, and for a write whose answer was
        /// lost.
        public var scriptResponse: ScriptResponse?
        /// The related records that portal rows created; see ``EditRecordResponse/newPortalRecordInfo``.
        public var newPortalRecordInfo: [CreatedPortalRecordInfo] = []

        /// Makes a value for tests and doubles; see the properties for its parts.
        public init(
            _ kind: Kind,
            recordId: Int? = nil,
            modId: Int? = nil,
            wasThere: Bool? = nil,
            error: FMRest.APIError? = nil
        ) {
            self.kind = kind
            self.recordId = recordId
            self.modId = modId
            self.wasThere = wasThere
            self.error = error
        }

        /// The result of a write that created a record.
        public static func created(recordId: Int, modId: Int? = nil) -> WriteResult {
            WriteResult(.created, recordId: recordId, modId: modId)
        }

        /// The result of a write that changed a record.
        public static func updated(recordId: Int?, modId: Int) -> WriteResult {
            WriteResult(.updated, recordId: recordId, modId: modId)
        }

        /// The result of a write that deleted a record.
        public static func deleted(wasThere: Bool?) -> WriteResult { WriteResult(.deleted, wasThere: wasThere) }

        /// The result of a write that was not carried out.
        public static func failed(_ error: FMRest.APIError) -> WriteResult { WriteResult(.failed, error: error) }

        /// The result of a write whose outcome is unknown.
        public static func unknown(_ error: FMRest.APIError) -> WriteResult { WriteResult(.unknown, error: error) }

        /// The result of a write that was not sent.
        public static let skipped = WriteResult(.skipped)
    }
}

extension DataAPI.WriteResult {
    /// Whether the host has what was to be written.
    public var isDone: Bool { [.created, .updated, .unchanged, .deleted].contains(kind) }

    init(_ response: DataAPI.CreateResponse) {
        self = .created(recordId: response.recordId, modId: response.modId)
        messages = response.messages
        scriptResponse = response.scriptResponse
        newPortalRecordInfo = response.newPortalRecordInfo
    }

    init(_ response: DataAPI.EditRecordResponse) {
        self = .updated(recordId: response.recordId, modId: response.modId)
        messages = response.messages
        scriptResponse = response.scriptResponse
        newPortalRecordInfo = response.newPortalRecordInfo
    }

    init(deleting response: DataAPI.ScriptResponse) {
        self = .deleted(wasThere: true)
        messages = response.messages
        scriptResponse = response.isEmpty ? nil : response
    }
}

extension DataAPI.WriteResult: CustomStringConvertible, CustomReflectable {
    /// The kind and the ids, without any field value: script results are left out.
    public var description: String {
        var parts: [String] = []
        if let recordId { parts.append("recordId: \(recordId)") }
        if let modId { parts.append("modId: \(modId)") }
        if let wasThere { parts.append("wasThere: \(wasThere)") }
        if let error { parts.append("\(error)") }
        return parts.isEmpty ? "\(kind)" : "\(kind)(\(parts.joined(separator: ", ")))"
    }

    /// Children for a dump, without any field value.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "kind": kind, "recordId": recordId as Any, "modId": modId as Any, "error": error as Any,
                "messages": messages,
            ]
        )
    }
}
