import FMData
import Foundation
import Hummingbird
import ServiceLifecycle

/// A change of a contact, as visitors get it.
private struct ContactEvent: Encodable {
    /// What has happened: `inserted`, `updated`, `deleted`, `left`.
    var change: String
    var id: Int
    var contact: ContactAnswer?

    var text: String {
        get throws {
            "event: \(change)\ndata: \(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))\n\n"
        }
    }
}

extension Site {
    /// `GET …/changes`: all contacts, and then each change, as server-sent events.
    ///
    /// All visitors watch the same live query, so a thousand of them cost the host what one does. A host that is down
    /// does not end the stream; what has happened meanwhile comes when it is back.
    func addChanges(to routes: RouterGroup<BasicRequestContext>) {
        routes.get { request, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
                body: ResponseBody { writer in
                    // Ends when the visitor leaves, and when the service is stopped.
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        for try await value in changes.values.cancelOnGracefulShutdown() {
                            for event in Self.events(value.changes) {
                                try await writer.write(ByteBuffer(string: try event.text))
                            }
                        }
                    }
                    try await writer.finish(nil)
                }
            )
        }
    }

    /// In the first value of a live query, all records are inserted.
    private static func events(_ changes: DataAPI.ChangeSet<Contact>) -> [ContactEvent] {
        func event(_ change: String, _ record: DataAPI.TypedLayout<Contact>.Record) -> ContactEvent {
            ContactEvent(change: change, id: record.recordId, contact: ContactAnswer(record))
        }
        return changes.inserted.map { event("inserted", $0) }
            + changes.updated.map { event("updated", $0.record) }
            + changes.removed.map { ContactEvent(change: "\($0.reason)", id: $0.recordId) }
    }
}
