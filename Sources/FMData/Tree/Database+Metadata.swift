public import OpenCombine

extension DataAPI.Database {
    /// The names of the layouts that the account may see, in the order of the file. Folders are left out, the layouts
    /// in them are not. The list with its folders is kept in ``layoutList``.
    ///
    ///     let names = try await database.layoutNames().firstValue()       // ["Contacts", "Countries", …]
    ///
    /// Apart from that it is ``getLayoutNames(isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func layoutNames(isolation: (any Actor)? = #isolation) -> AnyPublisher<[String], FMRest.APIError> {
        listLayouts().map(\.names).delivered(on: isolation, by: self)
    }

    /// The names of the scripts that the account may run, in the order of the file. Folders are left out, the scripts
    /// in them are not. The list with its folders is kept in ``scriptList``.
    ///
    /// Apart from that it is ``getScriptNames(isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func scriptNames(isolation: (any Actor)? = #isolation) -> AnyPublisher<[String], FMRest.APIError> {
        listScripts().map(\.names).delivered(on: isolation, by: self)
    }

    /// The layouts that the account may see, in their folders, ready to use. The list is also kept in ``layoutList``.
    /// ``layoutNames(isolation:)`` publishes the names alone.
    ///
    /// Source: Claris Data API guide, "Get layout names", `GET …/layouts`. FileMaker Server 18 and later.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getLayoutNames(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<[LayoutListItem], FMRest.APIError> {
        listLayouts().map { $0.layouts.map { $0.item(in: self) } }.delivered(on: isolation, by: self)
    }

    /// The scripts of the file, in their folders. The list is also kept in ``scriptList``. ``scriptNames(isolation:)``
    /// publishes the names alone.
    ///
    /// Source: Claris Data API guide, "Get script names", `GET …/scripts`. FileMaker Server 18 and later.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func getScriptNames(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<[ScriptItem], FMRest.APIError> {
        listScripts().map(\.scripts).delivered(on: isolation, by: self)
    }

    private func listLayouts() -> AnyPublisher<LayoutListBody, FMRest.APIError> {
        asOneAccount { tenure in
            self.callOptions { $0.tenure = tenure }.perform { .layoutNames(in: self.name) }
                .handleEvents(receiveOutput: { self.keep(layouts: $0.layouts, in: tenure) })
                .eraseToAnyPublisher()
        }
    }

    private func listScripts() -> AnyPublisher<ScriptListBody, FMRest.APIError> {
        asOneAccount { tenure in
            self.callOptions { $0.tenure = tenure }.perform { .scriptNames(in: self.name) }
                .handleEvents(receiveOutput: { self.keep(scripts: $0.scripts, in: tenure) })
                .eraseToAnyPublisher()
        }
    }
}
