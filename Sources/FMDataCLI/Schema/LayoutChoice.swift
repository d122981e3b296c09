import ArgumentParser
import FMData
import FMModel
import FMSandbox

/// The layouts of a host to read.
enum LayoutChoice {
    case named([String])
    /// All layouts except these, which are names of layouts or of folders.
    case all(except: [String])

    /// The names of the layouts to read and of those left out, each once, even if it is repeated in the list or the
    /// arguments.
    func names(of items: [DataAPI.Database.LayoutListItem]) throws -> (asked: [String], leftOut: [String]) {
        var seen: Set<SchemaName> = []
        switch self {
        case .named(let names): return (names.filter { seen.insert(SchemaName($0)).inserted }, [])
        case .all(let exceptions):
            let known = Self.namesAtAnyDepth(items)
            for name in exceptions where !known.contains(where: { SchemaName($0) == SchemaName(name) }) {
                let meant = known.nearest(to: name).map { " Did you mean \"\($0)\"?" } ?? ""
                throw ValidationError("--except: no layout and no folder is called \"\(name)\".\(meant)")
            }
            let all = items.flatMap(\.allLayouts).map(\.name).filter {
                !ListTree.isLine($0) && seen.insert(SchemaName($0)).inserted
            }
            let asked = Self.layouts(in: items, except: Set(exceptions.map(SchemaName.init)))
            return (all.filter { asked.contains(SchemaName($0)) }, all.filter { !asked.contains(SchemaName($0)) })
        }
    }

    private static func namesAtAnyDepth(_ items: [DataAPI.Database.LayoutListItem]) -> [String] {
        items.flatMap { item in
            switch item {
            case .layout(let layout): ListTree.isLine(layout.name) ? [] : [layout.name]
            case .folder(let name, let layouts): [name] + namesAtAnyDepth(layouts)
            }
        }
    }

    private static func layouts(
        in items: [DataAPI.Database.LayoutListItem],
        except exceptions: Set<SchemaName>
    ) -> Set<SchemaName> {
        var names: Set<SchemaName> = []
        for item in items where !exceptions.contains(SchemaName(item.name)) {
            switch item {
            case .layout(let layout): names.insert(SchemaName(layout.name))
            case .folder(_, let layouts): names.formUnion(Self.layouts(in: layouts, except: exceptions))
            }
        }
        return names
    }
}
