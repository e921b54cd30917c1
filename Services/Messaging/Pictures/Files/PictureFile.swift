import FoundationEssentials
import Schemas

/// A picture as its file has it, and the file without all that a picture is not: where and when it was taken, by which camera,
/// previews, texts, profiles of colours.
///
/// Nothing is decoded. A decoder makes of the file as many pixels as its headers say, and these are checked.
struct PictureFile: Hashable, Sendable {
    let type: PictureType
    let width: Int
    let height: Int
    let orientation: PictureOrientation?
    /// The cleaned file.
    let bytes: [UInt8]

    /// Reads a file by its bytes, whatever its name says.
    static func read(_ file: [UInt8]) throws(PictureRefusal) -> PictureFile {
        guard file.count <= MessagingLimits.maxPictureBytes else { throw PictureRefusal.tooLarge }
        if file.starts(with: PNGFile.start) { return try PNGFile.read(file) }
        if file.starts(with: JPEGFile.start) { return try JPEGFile.read(file) }
        if WebPFile.isStart(of: file) { return try WebPFile.read(file) }
        throw PictureRefusal.unknownType
    }

    /// A file without its metadata.
    static func cleaned(_ file: Data) throws(PictureRefusal) -> (bytes: Data, info: PictureInfo) {
        let picture = try read([UInt8](file))
        // A cleaned file stays as it is. Its bytes are the picture's name, and a report sends it once more.
        let again = try read(picture.bytes)
        guard again == picture else { throw PictureRefusal.structure("it is another one without its metadata") }
        let info = PictureInfo(
            type: picture.type, width: picture.width, height: picture.height, bytes: picture.bytes.count)
        return (Data(picture.bytes), info)
    }
}
