import FMData
import Hummingbird
import OpenCombine

extension Site {
    /// `GET …?search=ada&limit=20`, `GET …/17` and `PATCH …/17`.
    func addContacts(to routes: RouterGroup<BasicRequestContext>) {
        routes.get { request, _ in
            let query = request.uri.queryParameters
            return try await list(
                query.get("search"),
                limit: min(max(query.get("limit", as: Int.self) ?? 50, 1), 500)
            )
        }
        routes.get(":id") { _, context in
            let id = try context.parameters.require("id", as: Int.self)
            return ContactAnswer(try await reading.record(id: id).firstValue())
        }
        routes.patch(":id") { request, context in
            let id = try context.parameters.require("id", as: Int.self)
            let change = try await request.decode(as: ContactChange.self, context: context)
            // With its modId an edit that somebody else was faster than is refused, with 306. It is not tried again.
            let edited = try await writing.edit(id, setting: change.fields, modId: change.modId).firstValue()
            return ContactVersion(id: id, modId: edited.modId)
        }
    }

    /// The first contacts by name. None is an empty list: FileMaker's 401 is no error here.
    private func list(_ text: String?, limit: Int) async throws -> [ContactAnswer] {
        let find = text.map { text in
            DataAPI.Find(Contact.CodingKeys.self) { $0(.name).contains(text) || $0(.email) == text }
        }
        return try await reading.find(find ?? .everything).sorted(by: .name)
            .all(pageSize: limit)
            .prefix(limit)
            .map(ContactAnswer.init)
            .collect()
            .firstValue()
    }
}
