extension DataAPI {
    /// What became of a write: of a row of a batch or a commit, of a save, of an upsert.
    ///
    ///     if row.result.kind == .created { print(row.result.recordId!) }
    ///     if let error = row.result.error { … }                        // it failed, or nobody knows
    public struct WriteResult: Sendable {
        /// What can become of a write. More may come: a `switch` over it needs a `default`.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// The name of the kind.
            public let description: String

            private init(_ description: String) {
                self.description = description
            }

            /// There is a new record.
            public static let created = Kind("created")
            /// The record holds what was to be written.
            public static let updated = Kind("updated")
            /// The record held it already, or was left as somebody else has made it: nothing was written.
            public static let unchanged = Kind("unchanged")
            /// The record is gone.
            public static let deleted = Kind("deleted")
            /// The host did not carry it out, or somebody else's change stands in the way.
            public static let failed = Kind("failed")
            /// The host may have carried it out, and nobody can find out whether: it is not sent again.
            public static let unknown = Kind("unknown")
            /// It was not sent, since what it was a part of had come to an end before.
            public static let skipped = Kind("skipped")
        }

        /// What became of it.
        public var kind: Kind
        /// The record that was written, as far as it is known.
        public var recordId: Int?
        /// Its modification id after the write, as far as it is known: some servers leave it out for new records.
        public var modId: Int?
        /// Of a deleted record: `false` when it had been gone before, `nil` when nobody can say: an earlier attempt,
        /// whose answer was lost, may have been the one that deleted it.
        public var wasThere: Bool?
        /// Why it failed, or why nobody knows.
        public var error: FMRest.APIError?
        /// What the host said beside it; see ``MessageCarrying``. None of a write whose answer was lost.
        public var messages: [Message] = []
        /// The results of the scripts that ran with the write; `nil` when none ran, and of a write whose answer was
        /// lost.
        public var scriptResponse: ScriptResponse?
        /// The related records that rows of portals made; see ``EditRecordResponse/newPortalRecordInfo``.
        public var newPortalRecordInfo: [CreatedPortalRecordInfo] = []

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

        /// A new record.
        public static func created(recordId: Int, modId: Int? = nil) -> WriteResult {
            WriteResult(.created, recordId: recordId, modId: modId)
        }

        /// A record that was changed.
        public static func updated(recordId: Int?, modId: Int) -> WriteResult {
            WriteResult(.updated, recordId: recordId, modId: modId)
        }

        /// A record that is gone.
        public static func deleted(wasThere: Bool?) -> WriteResult { WriteResult(.deleted, wasThere: wasThere) }

        /// A write that was not carried out.
        public static func failed(_ error: FMRest.APIError) -> WriteResult { WriteResult(.failed, error: error) }

        /// A write of which nobody knows.
        public static func unknown(_ error: FMRest.APIError) -> WriteResult { WriteResult(.unknown, error: error) }

        /// A write that was not sent.
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
    /// What became of it, in a few words that hold no field value: the results of scripts are left out.
    public var description: String {
        var parts: [String] = []
        if let recordId { parts.append("recordId: \(recordId)") }
        if let modId { parts.append("modId: \(modId)") }
        if let wasThere { parts.append("wasThere: \(wasThere)") }
        if let error { parts.append("\(error)") }
        return parts.isEmpty ? "\(kind)" : "\(kind)(\(parts.joined(separator: ", ")))"
    }

    /// What a dump may show: no field value.
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
