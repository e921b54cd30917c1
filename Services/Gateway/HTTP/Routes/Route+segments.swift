/// A part of a route's path.
enum PathSegment: Hashable, Sendable {
    case fixed(String)
    /// A parameter, by its name.
    case parameter(String)
}

extension Route {
    /// The parts of the path. `**`, which is any rest of a path, is the parameter `path`.
    var segments: [PathSegment] {
        path.split(separator: "/").map { part in
            part == "**" ? .parameter("path") : part.hasPrefix(":") ? .parameter(String(part.dropFirst())) : .fixed(String(part))
        }
    }

    /// The names of the path's parameters.
    var pathParameters: [String] {
        segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    }
}
