/// `{"error":{"code":…,"message":…,"status":…,"details":[…]}}`. Fields that are missing or have another type are ignored; the
/// rest is sufficient. The Instance ID service's form is `{"error":"…"}`.
struct FCMErrorBody: Decodable {
    let error: Problem

    struct Problem: Decodable {
        let message: String?
        /// The error's codes, the most specific one first: `FcmError.errorCode`, `ErrorInfo.reason`, `status`.
        let codes: [String]

        private enum CodingKeys: String, CodingKey {
            case message, status, details
        }

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                message = text
                codes = []
                return
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            message = try? container.decode(String.self, forKey: .message)
            let details = (try? container.decode([Detail].self, forKey: .details)) ?? []
            let status = try? container.decode(String.self, forKey: .status)
            codes = (details.compactMap(\.errorCode) + details.compactMap(\.reason) + [status].compactMap(\.self))
                .filter { Self.isCode($0) && $0 != Self.unspecified }
        }

        private static let unspecified = "UNSPECIFIED_ERROR"

        /// Whether a text is short and upper case. The code is a metric label, so it must not be arbitrary text.
        private static func isCode(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
                    default: false
                    }
                }
        }
    }

    /// One entry of `details`, by its `@type`.
    private struct Detail: Decodable {
        let errorCode: String?
        let reason: String?

        private enum CodingKeys: String, CodingKey {
            case type = "@type"
            case errorCode, reason
        }

        init(from decoder: any Decoder) throws {
            let container = try? decoder.container(keyedBy: CodingKeys.self)
            let type = (try? container?.decode(String.self, forKey: .type)) ?? ""
            errorCode = type.hasSuffix("fcm.v1.FcmError") ? try? container?.decode(String.self, forKey: .errorCode) : nil
            reason = type.hasSuffix("google.rpc.ErrorInfo") ? try? container?.decode(String.self, forKey: .reason) : nil
        }
    }
}
