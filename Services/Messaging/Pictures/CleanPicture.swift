import Base
import Crypto
import FoundationEssentials
import Schemas

/// A picture that can be stored.
struct CleanPicture: Sendable {
    let bytes: Data
    let info: PictureInfo
    /// ``PictureFileDocument/id``.
    let id: String

    /// - Parameter file: As it was uploaded.
    /// - Throws: ``CommandFailure`` with `invalid` and the field `picture`.
    init(_ file: Data) throws(CommandFailure) {
        let cleaned: (bytes: Data, info: PictureInfo)
        do throws(PictureRefusal) {
            cleaned = try PictureFile.cleaned(file)
        } catch {
            UploadOutcome.refused(error.reason).count()
            throw CommandFailure(error)
        }
        bytes = cleaned.bytes
        info = cleaned.info
        id = SHA256.hash(data: cleaned.bytes).hexadecimal
    }
}
