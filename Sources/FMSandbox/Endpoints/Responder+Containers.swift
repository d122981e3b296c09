import Foundation

/// Source: Claris FileMaker Data API Guide, "Upload container data". The redirects of a download follow what clients in
/// use observe.
extension Responder {
    private static let cookieName = "X-FMS-Session-Key"

    /// `POST layouts/{layout}/records/{recordId}/containers/{field}/{repetition}`
    func uploadContainer(_ context: Context) throws -> Answer {
        let call = context.call
        try call.refuseUnknownParameters(query: ["modId"])
        let contentType = call.request.header("content-type") ?? ""
        guard contentType.lowercased().hasPrefix("multipart/form-data") else { throw FileMakerError(1705, status: 415) }
        let layout = try context.layout()
        let recordId = try context.recordId()
        guard let parts = Multipart.parts(of: call.request.body, contentType: contentType),
            let part = parts.first(where: { $0.name == "upload" })
        else {
            throw FileMakerError(960, message: "Upload payload must contain a part named 'upload'.")
        }
        guard let filename = part.filename else { throw FileMakerError(960) }
        let name = FieldName(call.route.field)
        let repetition = call.route.repetition.isEmpty ? name.repetition ?? 1 : Int(call.route.repetition) ?? 0
        // A container of a related table cannot be uploaded to, even if the layout shows it.
        guard let field = layout.field(named: context.ownName(name, on: layout)), field.reference.path.isEmpty else {
            throw FileMakerError(102)
        }
        let model = context.model.tables[layout.table].fields[field.reference.field]
        guard model.type == .container else { throw FileMakerError(408) }
        let content = ContainerContent(filename: filename, contentType: part.contentType, bytes: part.bytes)
        let modId = try context.write { writer in
            guard let record = writer.world.tables[layout.table].record(recordId) else { throw FileMakerError(101) }
            if let wanted = call.query["modId"], wanted != String(record.modId) { throw FileMakerError(306) }
            // Writing the empty text checks privileges and repetition; the content replaces it below.
            var change = try writer.change(.string(""), to: model, repetition: repetition, in: layout.table)
            change.value = .container(content)
            try writer.change(recordId, in: layout.table, [change])
            return writer.world.tables[layout.table].record(recordId)?.modId ?? record.modId
        }
        engine.withState { $0.counters.executedWrites += 1 }
        return Answer(["modId": .string(String(modId))])
    }

    /// `GET /Streaming_SSL/MainDB/{key}`: the first request is redirected with a cookie; the second, with the cookie,
    /// gets the content.
    func downloadContainer(_ call: Call) throws -> Answer {
        guard let ticket = engine.ticket(call.route.containerKey),
            engine.containersAreOpen || call.request.bearerToken == ticket.token
        else {
            return Self.refusal
        }
        let expected = Scrambler.hex(40, seed: call.route.containerKey, number: 0, uppercase: true)
        guard let cookie = Self.cookie(in: call.request) else {
            return Answer(
                SandboxResponse(
                    status: 302,
                    headers: [
                        ("Set-Cookie", "\(Self.cookieName)=\(expected); Path=/Streaming_SSL; HttpOnly"),
                        // Relative, as FileMaker Server 20 sends it.
                        ("Location", call.request.target),
                    ],
                    body: []
                )
            )
        }
        guard cookie == expected else { return Self.refusal }
        let content = ticket.content
        return Answer(
            SandboxResponse(
                status: 200,
                headers: [
                    ("Content-Type", Self.headerText(content.contentType)),
                    ("Content-Disposition", Self.disposition(of: content.filename)),
                    ("Cache-Control", "private"),
                ],
                body: content.bytes
            )
            .part(for: call.request, version: Scrambler.hex(32, seed: call.route.containerKey, number: 1))
        )
    }

    private static var refusal: Answer { Answer(SandboxResponse(status: 401, headers: [], body: [])) }

    private static func cookie(in request: SandboxRequest) -> String? {
        let pairs = request.headers.filter { $0.name.lowercased() == "cookie" }.flatMap {
            $0.value.split(separator: ";")
        }
        for pair in pairs.map({ String($0).trimmed }) where pair.hasPrefix("\(cookieName)=") {
            return String(pair.dropFirst(cookieName.count + 1))
        }
        return nil
    }

    /// The file name in ASCII, and also in UTF-8 if the two differ (RFC 6266).
    private static func disposition(of filename: String) -> String {
        let plain = headerText(filename)
        let exact = plain == filename ? "" : "; filename*=UTF-8''\(PercentCoding.encode(filename))"
        return "attachment; filename=\"\(plain)\"\(exact)"
    }

    /// Replaces the characters that a file name may contain but a header may not.
    private static func headerText(_ text: String) -> String {
        String(
            text.unicodeScalars.map {
                (0x20..<0x7F).contains($0.value) && $0 != "\"" && $0 != "\\" ? Character($0) : "_"
            }
        )
    }
}

extension ContainerContent {
    private static let knownExtensions: Set<String> = [
        "jpg", "jpeg", "png", "gif", "tif", "tiff", "bmp", "pdf", "mp3", "mp4", "m4a", "m4v", "mov", "wav", "aiff",
        "svg",
    ]

    /// The extension of a container's URL: the file's own if the streaming server can show that type, else none.
    static func streamedExtension(of filename: String) -> String? {
        guard let dot = filename.lastIndex(of: ".") else { return nil }
        let suffix = filename[filename.index(after: dot)...].lowercased()
        return knownExtensions.contains(suffix) ? suffix : nil
    }
}
