import FMData
import Hummingbird
import OpenCombine

extension Site {
    /// `GET …?search=ada&limit=20`, `GET …/17` and `PATCH …/17`.
    func addContacts(to routes: RouterGroup<BasicRequestContext>) {
        routes.get { request, context in
            let query = request.uri.queryParameters
            return try await list(
                query.get("search"),
                limit: min(max(query.get("limit", as: Int.self) ?? 50, 1), 500),
                in: reading(context)
            )
        }
        routes.get(":id") { _, context in
            let id = try context.parameters.require("id", as: Int.self)
            return ContactAnswer(try await reading(context).record(id: id).firstValue())
        }
        routes.patch(":id") { request, context in
            let id = try context.parameters.require("id", as: Int.self)
            let change = try await request.decode(as: ContactChange.self, context: context)
            // With its modId an edit that somebody else was faster than is refused, with 306. It is not tried again.
            let edited = try await contacts(for: context.logger)
                .edit(id, setting: change.fields, modId: change.modId)
                .firstValue()
            return ContactVersion(id: id, modId: edited.modId)
        }
    }

    /// Equal reads at the same moment are one request, and one that fails for a passing reason is tried again for two
    /// seconds.
    private func reading(_ context: BasicRequestContext) -> DataAPI.TypedLayout<Contact> {
        contacts(for: context.logger).coalescingReads().retrying(.init(deadline: .seconds(2)))
    }

    /// The first contacts by name. None is an empty list: FileMaker's 401 is no error here.
    private func list(
        _ text: String?,
        limit: Int,
        in contacts: DataAPI.TypedLayout<Contact>
    ) async throws -> [ContactAnswer] {
        let find = text.map { text in
            DataAPI.Find(Contact.CodingKeys.self) { $0(.name).contains(text) || $0(.email) == text }
        }
        return try await contacts.find(find ?? .everything).sorted(by: .name)
            .all(pageSize: limit)
            .prefix(limit)
            .map(ContactAnswer.init)
            .collect()
            .firstValue()
    }
}
