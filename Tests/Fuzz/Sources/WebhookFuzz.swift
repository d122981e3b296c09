import FMData
import Foundation

@testable import FMWebhooks

/// The first byte of an input selects the properties of the request's head, the first line is the part of the path
/// after the mark, and the rest is the body of a delivery, and then a server's list of webhooks. A delivery with the
/// mark and the secret is accepted whatever its body, any other never.
enum WebhookFuzz {
    private static let key = WebhookKey(
        mark: UUID(
            uuid: (0x6F, 0x0B, 0x3C, 0x1E, 0x53, 0xF5, 0x4B, 0x7E, 0x9C, 0x58, 0x0B, 0x1E, 0x9A, 0x6D, 0x2F, 0x11)
        ),
        secret: "s3cret"
    )
    private static let decoder = WebhookDecoder(key: key)
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static func test(_ input: UnsafeRawBufferPointer) {
        guard let first = input.first else { return }
        let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
        let behindMark = String(decoding: input[1..<max(1, end)], as: UTF8.self)
        let body = Array(input[min(end + 1, input.count)...])
        let path = (first & 1 == 0 ? "" : "/behind/a/proxy") + "/\(key.mark.uuidString)/" + behindMark
        let secret = first & 2 == 0 ? key.secret : behindMark

        let outcome = outcome(path, secret: secret, first & 4 == 0 ? body : nil)
        require([200, 401, 404].contains(outcome.status), "\(outcome)")
        require((outcome.hint != nil) == (outcome.status == 200), "\(outcome)")
        require(outcome.status != 200 || secret == key.secret, "the secret \(secret) is taken")
        guard let hint = outcome.hint else { return check(list: body) }

        require(hint.receivedAt == now, "\(hint)")
        require(!hint.isSchema || hint.table == nil, "\(hint)")
        if let ids = hint.rowIDs {
            require(!ids.isEmpty && ids.allSatisfy { $0 > 0 } && zip(ids, ids.dropFirst()).allSatisfy(<), "\(ids)")
            require(first & 4 == 0, "rows of no body")
        }
        // The path that this library would give the webhook has the same result.
        let tables = behindMark.utf8.split(separator: UInt8(ascii: "/")).count == 2 ? [hint.table] : [nil]
        for table in tables where !hint.database.isEmpty && table != "" {
            let again = self.outcome(key.path(database: hint.database, table: table), secret: secret, body)
            require(again.hint?.database == hint.database, "\(hint) becomes \(again)")
        }
        // Only the body can add anything to the hint that the path gives.
        let bare = self.outcome(path, secret: secret, nil)
        require(bare.hint?.database == hint.database && bare.hint?.rowIDs == nil, "\(hint) and \(bare)")
        check(list: body)
    }

    private static func outcome(_ path: String, secret: String, _ body: [UInt8]?) -> WebhookDecoder.Outcome {
        decoder.outcome(
            method: "POST",
            path: path,
            headers: [(name: "x-fmdata-secret", value: secret)],
            body: body,
            receivedAt: now
        )
    }

    private static func check(list: [UInt8]) {
        _ = try? FMDecoder().decode([RegisteredWebhook].self, from: list)
        _ = try? FMDecoder().decode([String: [RegisteredWebhook]].self, from: list)
    }
}
