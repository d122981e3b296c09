import FMData
import Foundation
import Hummingbird
import OpenCombine
import ServiceLifecycle

/// `GET /changes`: the contacts of all sites, and then each change, as server-sent events.
///
/// All visitors watch the same live queries, so a thousand of them cost the hosts what one does. A host that is down
/// does not end the stream; what has happened meanwhile comes when it is back.
struct Changes {
    let sites: [Site]

    private struct Event: Encodable {
        var site: String
        var change: String
        var id: Int
        var contact: ContactAnswer?
    }

    func add(to router: Router<BasicRequestContext>) {
        router.get("changes") { request, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
                body: ResponseBody { writer in
                    // Ends when the visitor leaves, and when the service is stopped.
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        for try await events in events.values.cancelOnGracefulShutdown() {
                            for event in events { try await writer.write(ByteBuffer(string: Self.text(event))) }
                        }
                    }
                    try await writer.finish(nil)
                }
            )
        }
    }

    private var events: AnyPublisher<[Event], FMRest.APIError> {
        sites.map { site in site.changes.map { Self.events($0.changes, of: site.name) }.eraseToAnyPublisher() }.merge()
    }

    /// In the first value of a live query, all records are inserted.
    private static func events(_ changes: DataAPI.ChangeSet<Contact>, of site: String) -> [Event] {
        func event(_ change: String, _ record: DataAPI.TypedLayout<Contact>.Record) -> Event {
            Event(site: site, change: change, id: record.recordId, contact: ContactAnswer(record))
        }
        return changes.inserted.map { event("inserted", $0) }
            + changes.updated.map { event("updated", $0.record) }
            + changes.removed.map { Event(site: site, change: "\($0.reason)", id: $0.recordId) }
    }

    private static func text(_ event: Event) throws -> String {
        "event: \(event.change)\ndata: \(String(decoding: try JSONEncoder().encode(event), as: UTF8.self))\n\n"
    }
}
