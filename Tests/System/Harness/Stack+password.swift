import FoundationEssentials
import Schemas

extension Stack {
    /// The password of admin, from the file of the first start.
    var firstPassword: Secret {
        get throws {
            Secret(String(try String(contentsOfFile: stateDirectory + "/password", encoding: .utf8).dropLast()))
        }
    }
}
