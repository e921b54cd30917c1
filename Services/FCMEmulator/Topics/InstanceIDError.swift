import HTTPTypes

/// The refusal of a whole call to the Instance ID service: `{"error":"…"}`.
struct InstanceIDError: Error, Hashable {
    let status: HTTPResponse.Status
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }

    static let unknown = InstanceIDError(.notFound, "No information found about this instance id.")
}
