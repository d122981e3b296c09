public import OpenCombine

extension DataAPI.Database {
    /// The layouts the account may see, in their folders. The list is kept in ``layoutList`` as well.
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Get layout names", `GET …/layouts`. FileMaker Server 18 and later.
    public func getLayoutNames(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<[LayoutListItem], FMRest.APIError> {
        asOneAccount { tenure in
            self.bound(to: tenure).perform { .layoutNames(in: self.name) }
                .map { body in
                    self.keep(layouts: body.layouts, in: tenure)
                    return body.layouts.map { $0.item(in: self) }
                }
                .eraseToAnyPublisher()
        }
        .handedOver(to: isolation, by: self)
    }

    /// The scripts of the file, in their folders. The list is kept in ``scriptList`` as well.
    ///
    /// Publishes one value, then finishes. Nothing is sent before demand; each subscription is one request; cancelling ends
    /// it on the wire.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Get script names", `GET …/scripts`. FileMaker Server 18 and later.
    public func getScriptNames(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<[ScriptItem], FMRest.APIError> {
        asOneAccount { tenure in
            self.bound(to: tenure).perform { .scriptNames(in: self.name) }
                .map { body in
                    self.keep(scripts: body.scripts, in: tenure)
                    return body.scripts
                }
                .eraseToAnyPublisher()
        }
        .handedOver(to: isolation, by: self)
    }
}
