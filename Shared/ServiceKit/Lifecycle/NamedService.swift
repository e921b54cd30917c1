import ServiceLifecycle

/// A service with a short description. `ServiceGroup` takes a service's description as its name, and that of one without an own
/// description is all that it contains, which takes a good part of a start to print.
struct NamedService: Service, CustomStringConvertible {
    private let service: any Service

    init(_ service: any Service) {
        self.service = service
    }

    var description: String { "\(type(of: service))" }

    func run() async throws {
        try await service.run()
    }
}
