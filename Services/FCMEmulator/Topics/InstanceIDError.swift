import HTTPTypes

/// A call to the Instance ID service that is refused as a whole: `{"error":"…"}`.
struct InstanceIDError: Error, Hashable {
    let status: HTTPResponse.Status
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }

    static let unknown = InstanceIDError(.notFound, "No information found about this instance id.")
}
