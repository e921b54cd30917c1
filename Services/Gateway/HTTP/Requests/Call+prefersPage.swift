import Hummingbird

extension Call {
    /// Whether the client wants a page rather than JSON, as a browser does that follows a link.
    var prefersPage: Bool {
        let accepted = AcceptedTypes(request.headers[.accept] ?? "")
        return accepted.preference(for: "text/html") > accepted.preference(for: "application/json")
    }
}
